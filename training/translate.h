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

struct Translation {
  std::string text;
  double score = 0;  // log p / pieces ^ length penalty
  bool cut = false;  // the source was longer than `max_length`
};

/// The best target found for every line, in the order of the lines; an empty line gives an empty
/// text.
std::vector<Translation> translate(Translator& translator, std::span<const std::string> lines,
                                   const DecodingOptions& options);

/// Log-probability of every target given its source, the end mark included, in nats.
std::vector<double> score_targets(Translator& translator, std::span<const data::Example> examples,
                                  int64_t batch);

}  // namespace ablate::training
