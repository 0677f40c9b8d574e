#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace ablate::training {

/// The operating system refused to read or write. The message has the path and its reason.
struct IoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "cannot <action> '<path>': <strerror of `code`>", with what to do about it where that is known.
IoError io_error(std::string_view action, const std::filesystem::path& path, int code);

}  // namespace ablate::training
