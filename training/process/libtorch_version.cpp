#include "training/process/libtorch_version.h"

#include <dlfcn.h>

namespace ablate::training {

LibtorchVersion loaded_libtorch() {
  const auto abi = reinterpret_cast<uint64_t (*)()>(dlsym(RTLD_DEFAULT, "aoti_torch_abi_version"));
  return abi ? version_of(abi()) : LibtorchVersion{};
}

std::string to_text(const LibtorchVersion& version) {
  if (version == LibtorchVersion{}) return "unknown";
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::string mismatch(const LibtorchVersion& built, const LibtorchVersion& loaded) {
  if (built.major == loaded.major && built.minor == loaded.minor) return "";
  const auto needed = std::to_string(built.major) + "." + std::to_string(built.minor);
  return "this program was built with LibTorch " + to_text(built) + " and found version " +
         to_text(loaded) + ", whose interface differs: install torch " + needed +
         " where it is, or build Ablate again";
}

}  // namespace ablate::training
