#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/exchange/huggingface/family.h"

namespace ablate::exchange {

/// A model with the fields that all families have, without dropout, as the model is used; a study
/// that trains it further says so.
HubModel begin_model(ConfigFields& config, const std::string& family, models::Family kind);

/// The activation that the field names. Throws CheckpointError for one that Ablate does not have.
models::Activation activation_of(ConfigFields& config, const std::string& field);

/// The id of a token that the field names; one of several ends is the first.
std::optional<int32_t> id_in(ConfigFields& config, const std::string& name);

/// Whether the output is the embedding; `usual` is the family's default.
bool ties(ConfigFields& config, bool usual);

/// Angles of positions: `rope_parameters`, or `rope_theta` and `rope_scaling` of older files.
models::Rotary rotary_of(ConfigFields& config);

}  // namespace ablate::exchange
