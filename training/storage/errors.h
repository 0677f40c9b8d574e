#pragma once

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace ablate::training {

/// A checkpoint is missing, damaged or does not fit. The message names the file and what is wrong.
struct CheckpointError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The remedy in the message of an IoError if the disk is full.
inline constexpr const char* kFreeSpace = "free some space and run the same command again";

/// The operating system refused to read or write. The message has the path and its reason.
struct IoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "cannot <action> '<path>': <strerror of `code`>", with a remedy if one is known. Throws
/// std::bad_alloc if the reason is that memory has ended.
IoError io_error(std::string_view action, const std::filesystem::path& path, int code);

/// A number that decides something, as a loss, a gradient or a weight, is not finite.
struct Diverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// NaN without a sign, for messages: "nan", not "-nan".
inline double unsigned_nan(double value) { return std::isnan(value) ? std::abs(value) : value; }

}  // namespace ablate::training
