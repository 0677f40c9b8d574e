#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/encode.h"
#include "models/transformer.h"
#include "training/training_options.h"

namespace ablate::training {

/// A trained model with what turns text into its ids.
struct Translator {
  models::Transformer model;
  data::Tokenizers tokenizers;
  int64_t max_length;  // pieces kept of a source, its end mark included
};

/// The ids of pairs as a family reads and writes them: a decoder alone reads source and target as
/// one sequence.
data::EncodedSet encode_for(models::Family family, const data::Tokenizers& tokenizers,
                            std::span<const data::Example> pairs, int64_t max_length);

struct Translation {
  std::string text;
  double score = 0;  // log p / pieces ^ length penalty
  bool cut = false;  // the source was longer than `max_length`
};

/// The likeliest class of every line with its log-probability. REQUIRES: a model with a label head.
std::vector<Translation> classify(Translator& translator, std::span<const std::string> lines,
                                  int64_t rows);

/// The best target found for every line, in the order of the lines; an empty line gives an empty
/// text. A model with a label head gives the class of the line.
std::vector<Translation> translate(Translator& translator, std::span<const std::string> lines,
                                   const DecodingOptions& options);

/// Log-probability of every target given its source, the end mark included, in nats.
std::vector<double> score_targets(Translator& translator, std::span<const data::Example> examples,
                                  int64_t batch);

}  // namespace ablate::training
