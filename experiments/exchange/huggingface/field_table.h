#pragma once

#include "experiments/exchange/format/name_map.h"
#include "experiments/exchange/huggingface/config_fields.h"
#include "options/record.h"

namespace ablate::exchange {

// config.json in both directions, as the table of a family says. REQUIRES of all: options whose
// kinds have the keys.

/// The activation that a field names. Throws CheckpointError for one that Ablate does not have.
models::Activation activation_named(const ConfigFields& config, const std::string& field,
                                    const std::string& name);
/// The foreign name of the activation; empty if it has none.
std::string name_of(models::Activation activation);

/// The value of a key; null if it is absent.
nlohmann::json value_at(const options::ConstSlot& options, std::string_view key);

/// Gives the keys their values. Throws CheckpointError if a field is missing, has an unexpected
/// type or is no size that a tensor can have.
void read_fields(ConfigFields& config, const ForeignFields& fields, const options::Slot& options);

void write_fields(nlohmann::json& config, const ForeignFields& fields,
                  const options::ConstSlot& options);

}  // namespace ablate::exchange
