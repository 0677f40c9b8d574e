#include "experiments/config/schema/option.h"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>

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

namespace {

std::string yaml_of_list(const options::Type& type, const void* slot) {
  std::string items;
  for (size_t i = 0; i < type.size(slot); ++i)
    items += (i == 0 ? "" : ", ") + yaml_of(*type.element, options::element_of(type, slot, i));
  return "[" + items + "]";
}

}  // namespace

std::string yaml_of(const options::Type& type, const void* slot) {
  using Kind = options::Type::Kind;
  switch (type.kind) {
    case Kind::boolean:
      return *static_cast<const bool*>(slot) ? "true" : "false";
    case Kind::integer:
      return std::to_string(*static_cast<const int64_t*>(slot));
    case Kind::number:
      return fmt::format("{}", *static_cast<const double*>(slot));
    case Kind::text:
      return quoted_yaml(*static_cast<const std::string*>(slot));
    case Kind::choice:
      return std::string(type.words[type.index(slot)]);
    case Kind::optional:
      return type.size(slot) == 0 ? "null"
                                  : yaml_of(*type.element, options::element_of(type, slot, 0));
    case Kind::list:
      return yaml_of_list(type, slot);
    case Kind::variant:
    case Kind::record:
    case Kind::other:
      break;
  }
  throw std::logic_error("a section is not one value");
}

}  // namespace ablate::config
