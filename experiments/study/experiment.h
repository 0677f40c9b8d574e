#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/data_options.h"
#include "experiments/study/value.h"
#include "models/transformer_options.h"
#include "tokenizer/tokenizer_options.h"
#include "training/training_options.h"

namespace ablate::experiments {

/// Everything that decides one run, but for its seed.
struct Experiment {
  data::DataOptions data;
  tokenizer::TokenizerOptions tokenizer;
  models::TransformerOptions model;
  training::TrainingOptions training;
  training::DecodingOptions decoding;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("data", o.data, "what is learned: text files or a generated task");
    visit("tokenizer", o.tokenizer, "how text becomes pieces");
    visit("model", o.model, "the Transformer");
    visit("training", o.training, "how it is trained");
    visit("decoding", o.decoding, "how outputs are searched for");
  }
  template <class Require>
  static void rules(const Experiment& o, Require&& require) {
    require(o.tokenizer.joint || o.model.tying != models::Tying::three_way, "model.tying",
            "must be target or none where tokenizer.joint is false");
  }
};

/// A variant's discriminating key and the alternative it has when none is chosen.
struct VariantPath {
  std::string discriminator;
  std::string initial;
};

/// Dotted paths of all variants of an experiment.
const std::map<std::string, VariantPath>& experiment_variants();

/// Dotted paths of everything that can be set, those of every alternative included.
const std::vector<std::string>& experiment_paths();

/// An experiment and where its values came from.
struct ReadExperiment {
  Experiment experiment;
  std::map<std::string, std::string> origins;  // dotted path -> file:line or --set
};

ReadExperiment read_experiment(const Value& value, Problems& problems);

}  // namespace ablate::experiments
