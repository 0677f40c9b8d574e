#include "experiments/corpora/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "training/storage/io_error.h"

namespace ablate::corpora {

SharedLibrary::SharedLibrary(const std::string& file, const std::string& package)
    : file_(file), handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr)
    throw training::IoError(
        fmt::format("cannot load {}, which fetching needs; install the Debian package {}: {}", file,
                    package, dlerror()));
}

void* SharedLibrary::address(const char* name) const {
  auto* found = dlsym(handle_, name);
  if (found == nullptr)
    throw training::IoError(fmt::format("{} has no function {}; it is too old", file_, name));
  return found;
}

}  // namespace ablate::corpora
