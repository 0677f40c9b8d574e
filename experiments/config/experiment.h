#pragma once

#include <array>
#include <string_view>

#include "data/data_options.h"
#include "models/transformer_options.h"
#include "tokenizer/tokenizer_options.h"
#include "training/training_options.h"

namespace ablate::experiments {

/// One resolved run: everything that decides its result except the seed.
struct Experiment {
  /// Paths that have no default: a configuration must give them.
  static constexpr auto required = std::to_array<std::string_view>({"data.task"});

  data::DataOptions data;
  tokenizer::TokenizerOptions tokenizer;
  models::TransformerOptions model;
  training::TrainingOptions training;
  training::DecodingOptions decoding;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("data", o.data, "the examples: text files or a generated task");
    visit("tokenizer", o.tokenizer, "how text becomes pieces");
    visit("model", o.model, "the Transformer");
    visit("training", o.training, "how the model is trained");
    visit("decoding", o.decoding, "how targets are searched for");
  }
  template <class Require>
  static void rules(const Experiment& o, Require&& require) {
    require(o.tokenizer.joint || o.model.tying != models::Tying::three_way, "tokenizer.joint",
            "must be true where model.tying is three_way; target and none need no joint pieces");
  }
};

}  // namespace ablate::experiments
