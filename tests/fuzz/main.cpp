#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ablate::fuzz {

void READER(std::string_view bytes);

}  // namespace ablate::fuzz

/// What libFuzzer calls with every input.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  ablate::fuzz::READER({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
