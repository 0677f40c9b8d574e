#pragma once

#include <string>
#include <string_view>

#include "experiments/config/value.h"

namespace ablate::config {

/// A key that an earlier version knew by another name, as dotted paths from the root.
struct RenamedKey {
  std::string_view before, now;
};

inline constexpr RenamedKey kRenamedKeys[] = {
    {"model.numbering", "model.position_ids"},
    {"training.start", "training.init_from"},
    {"training.vectors", "training.pretrained_embeddings"},
};

/// A value that an earlier version knew by another name; `key` is the present one.
struct RenamedValue {
  std::string_view key, before, now;
};

inline constexpr RenamedValue kRenamedValues[] = {
    {"model.output.kind", "pieces", "tokens"},
};

/// A key that was a single value and is a section now; `now` is what stands below it, as
/// "key=value".
struct UnfoldedValue {
  std::string_view key, before, now;
};

inline constexpr UnfoldedValue kUnfoldedValues[] = {
    {"model.residual", "true", "skip=true"},
    {"model.residual", "false", "skip=false"},
    {"model.residual", "learned", "per=layer"},
    {"model.encoder.residual", "true", "skip=true"},
    {"model.encoder.residual", "false", "skip=false"},
    {"model.encoder.residual", "learned", "per=layer"},
    {"model.decoder.residual", "true", "skip=true"},
    {"model.decoder.residual", "false", "skip=false"},
    {"model.decoder.residual", "learned", "per=layer"},
};

/// What stands below `key` now, as "key=value", where an earlier version had the value `value`;
/// empty where it had none.
std::string_view unfolded(std::string_view key, std::string_view value);

/// The present name of a key or of one below it ("training.start.run" -> "training.init_from.run");
/// empty where no earlier version knew it by another name.
std::string current_name(std::string_view path);

/// The present name of the value that an earlier version called `value`; empty where none did.
std::string_view current_value(std::string_view key, std::string_view value);

/// Gives the keys and values of a recorded configuration, in nested sections, their present names,
/// so that runs of earlier versions can still be read.
void use_current_names(Value& configuration);

/// The same for "key.path=value".
std::string with_current_names(const std::string& set);

}  // namespace ablate::config
