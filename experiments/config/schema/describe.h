#pragma once

#include "experiments/config/schema/schema.h"

namespace ablate::config {

/// The schema of an option struct, with the values of `options` as defaults.
Schema describe(const options::ConstSlot& options);

/// The schema of `model.encoder` and `model.decoder`: the keys of a layer, which default to those
/// of the model.
Schema describe_layer();

}  // namespace ablate::config
