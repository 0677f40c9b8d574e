#include "experiments/config/schema/option.h"

#include <fmt/format.h>

namespace ablate::config {

std::string quoted_yaml(std::string_view text) {
  std::string quoted = "\"";
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\')
      quoted += fmt::format("\\{}", byte);
    else if (code < 0x20 || code == 0x7F)
      quoted += fmt::format("\\x{:02x}", code);
    else
      quoted += byte;
  }
  return quoted + '"';
}

std::string number_yaml(double number) { return fmt::format("{}", number); }

}  // namespace ablate::config
