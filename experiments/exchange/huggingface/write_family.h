#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/exchange/huggingface/family.h"

namespace ablate::exchange {

/// A model of ours as one of Transformers.
struct WrittenFamily {
  std::string family;     // the model type
  nlohmann::json config;  // config.json
  /// The residual stream's channels change places, so that sines and cosines that alternate become
  /// halves, which is all that Marian has.
  bool separates_sines = false;
};

/// The sizes and ids of a vocabulary in a configuration.
void set_vocabulary(nlohmann::json& config, int64_t vocabulary,
                    const tokenizer::SpecialIds& special);

/// The family that computes the same as a model with these options: of several the best known.
/// `length` is that of the longest sequence in training. Throws UsageError if there is none, naming
/// the first key that the nearest family does not have.
WrittenFamily write_family(const models::TransformerOptions& options, int64_t length,
                           int64_t vocabulary, const tokenizer::SpecialIds& special);

}  // namespace ablate::exchange
