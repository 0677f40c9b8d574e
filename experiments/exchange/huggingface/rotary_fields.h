#pragma once

#include "experiments/exchange/format/name_map.h"
#include "experiments/exchange/huggingface/config_fields.h"

namespace ablate::exchange {

/// Angles of positions of heads with `d_k` channels, from `rope_parameters`, or `rope_scaling` and
/// the names of older files. Throws CheckpointError for a scaling that Ablate does not have.
models::Rotary rotary_of(ConfigFields& config, const RotaryNames& names, int64_t d_k);

/// `rope_parameters` of these angles; without the scaling if Transformers has none like it.
nlohmann::json rope_of(const models::Rotary& rotary);

}  // namespace ablate::exchange
