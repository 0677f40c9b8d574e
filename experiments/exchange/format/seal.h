#pragma once

#include <string>

namespace ablate::exchange {

/// A zip file with a comment of 64 bytes at its end: the SHA-256 of everything before it. REQUIRES:
/// a zip file without a comment.
std::string sealed(std::string zip);

/// Throws CheckpointError, naming `source`, for bytes that are not such a file, are cut off, or
/// have changed. Does not load the module.
void check_seal(const std::string& bytes, const std::string& source);

}  // namespace ablate::exchange
