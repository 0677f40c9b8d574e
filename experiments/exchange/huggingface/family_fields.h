#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/exchange/huggingface/family.h"
#include "options/record.h"

namespace ablate::exchange {

/// A model with the fields that all families have, without dropout, as the model is used; a study
/// that trains it further says so. Fields that the family's map lists are done with.
HubModel begin_model(ConfigFields& config, const std::string& family, models::Family kind);

/// A number of layers.
int64_t layers_in(ConfigFields& config, const std::string& name);

/// The activation that the field names. Throws CheckpointError for one that Ablate does not have.
models::Activation activation_of(ConfigFields& config, const std::string& field);
models::Activation activation_named(const ConfigFields& config, const std::string& field,
                                    const std::string& name);

/// The id of a token that the field names; one of several ends is the first.
std::optional<int32_t> id_in(ConfigFields& config, const std::string& name);

/// Whether the output is the embedding; `usual` is the family's default.
bool ties(ConfigFields& config, bool usual);

/// Whether an encoder has a head for tokens: as `architectures` says, or else if it has `tensor`.
bool has_token_head(ConfigFields& config, const std::set<std::string>& tensors,
                    const std::string& tensor);

/// How a family calls fields of older files that rope_parameters now holds.
struct RotaryNames {
  std::string base = "rope_theta";
  std::string share = {};  // of each head's channels that are turned; empty: all are
  double usual_share = 1;  // if no field says it
  int64_t d_k = 0;         // channels of a head, if `share` is given
};

/// Angles of positions, from `rope_parameters`, or `rope_scaling` and the names of older files.
models::Rotary rotary_of(ConfigFields& config, const RotaryNames& names = {});

/// Throws CheckpointError, naming `source`, if the options of a section, or of all, break a rule.
void require_rules(const options::ConstSlot& options, const std::string& section,
                   const std::string& source);

}  // namespace ablate::exchange
