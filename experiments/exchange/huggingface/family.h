#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "experiments/exchange/huggingface/config_fields.h"
#include "models/options/transformer_options.h"
#include "options/record.h"
#include "tokenizer/id_map.h"

namespace ablate::exchange {

/// A model of Hugging Face's Transformers as one of ours.
struct HubModel {
  std::string family;  // the model type, whose table it has: "llama"
  models::TransformerOptions options;
  int64_t vocabulary = 0;
  tokenizer::SpecialIds special;  // bos is the token that a decoder starts with
  /// Channels that one angle turns are neighbours, not half of the channels apart as ours.
  bool pairs_are_neighbours = false;
};

/// Reads config.json; `tensors` are the names of the checkpoint's, by which heads are known. Throws
/// CheckpointError for a family that Ablate does not have, and for every field of the configuration
/// that it does not understand or has no key for.
HubModel read_family(ConfigFields& config, const std::set<std::string>& tensors);

/// Throws CheckpointError, naming `source`, if the options of a section, or of all, break a rule.
void require_rules(const options::ConstSlot& options, const std::string& section,
                   const std::string& source);

}  // namespace ablate::exchange
