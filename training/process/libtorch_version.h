#pragma once

#include <cstdint>
#include <string>

namespace ablate::training {

/// A version of LibTorch, whose interface changes from one minor version to the next.
struct LibtorchVersion {
  int major = 0, minor = 0, patch = 0;

  bool operator==(const LibtorchVersion&) const = default;
};

/// The version that TORCH_ABI_VERSION of LibTorch's headers means, which has a byte for each
/// number.
constexpr LibtorchVersion version_of(uint64_t abi) {
  const auto byte = [abi](int place) { return static_cast<int>(abi >> (8 * place) & 0xff); };
  return {.major = byte(7), .minor = byte(6), .patch = byte(5)};
}

/// The version of the LibTorch that this process runs with; zeros if there is none, or one that is
/// older than 2.9 and does not say.
LibtorchVersion loaded_libtorch();

/// "2.13.0"; "unknown" for zeros.
std::string to_text(const LibtorchVersion& version);

/// Why a program that was built with one version cannot run with another, in one sentence; empty if
/// it can, which takes equal major and minor numbers.
std::string mismatch(const LibtorchVersion& built, const LibtorchVersion& loaded);

}  // namespace ablate::training
