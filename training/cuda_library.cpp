#include "training/cuda_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "training/device.h"

namespace ablate::training {

void* cuda_function(const char* name) {
  // What is loaded already comes first: the tests' stand-in for CUDA.
  if (void* loaded = dlsym(RTLD_DEFAULT, name)) return loaded;
  const auto file =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("libablate_cuda.so");
  if (!std::filesystem::exists(file)) return nullptr;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr)
    throw DeviceError("the program's part for CUDA cannot be loaded: " + std::string(dlerror()));
  return function;
}

}  // namespace ablate::training
