#include "training/out_of_memory.h"

#include <new>
#include <string_view>

#include "models/libtorch.h"

namespace ablate::training {

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr)
    return true;
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  if (of_torch == nullptr) return false;
  const std::string_view message = of_torch->what_without_backtrace();
  return message.find("not enough memory") != message.npos ||
         message.find("can't allocate memory") != message.npos;
}

}  // namespace ablate::training
