#include "experiments/commands/number_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>

#include "experiments/config/yaml/value.h"

namespace ablate::commands {
namespace {

config::Value scalar(const std::string& text) {
  return {.type = config::Value::Type::scalar, .scalar = text};
}

/// "; write 1,2,3" for "1-3".
std::string as_list(const std::string& text) {
  const auto meant = config::meant_range(text);
  return meant.empty() ? "" : fmt::format("; write {}", fmt::join(meant, ","));
}

enum class Number { integer, count, real };

/// Why `text` is not such a number; empty if it is one.
std::string fault_of(const std::string& text, Number number, bool is_list) {
  if (number == Number::real) return config::parse_number(scalar(text)).why;
  const auto parsed = config::parse_integer(scalar(text));
  if (!parsed.value) return parsed.why + (is_list ? as_list(text) : "");
  if (number == Number::count && *parsed.value < 0) return "must not be negative";
  return {};
}

void read_strictly(CLI::Option& option, Number number) {
  const bool is_list = option.get_delimiter() != '\0';
  // Checks the number before CLI11's own checks, which would read the text differently.
  option.transform(CLI::Validator(
      [number, is_list](std::string& text) { return fault_of(text, number, is_list); }, ""));
}

}  // namespace

void read_numbers_strictly(CLI::App& app) {
  for (auto* option : app.get_options()) {
    const auto type = option->get_type_name();
    if (type.starts_with("INT")) read_strictly(*option, Number::integer);
    if (type.starts_with("UINT")) read_strictly(*option, Number::count);
    if (type.starts_with("FLOAT")) read_strictly(*option, Number::real);
  }
  for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    read_numbers_strictly(*verb);
}

CLI::Validator between(int64_t least, int64_t most) {
  return {[least, most](std::string& text) -> std::string {
            const auto value = config::parse_integer(scalar(text)).value;
            if (value && *value >= least && *value <= most) return {};
            return fmt::format("must be from {} to {}, not {}", least, most, text);
          },
          fmt::format("from {} to {}", least, most)};
}

CLI::Validator above_zero() {
  return {[](std::string& text) -> std::string {
            const auto value = config::parse_number(scalar(text)).value;
            if (value && std::isfinite(*value) && *value > 0) return {};
            return fmt::format("must be above 0, not {}", text);
          },
          "above 0"};
}

}  // namespace ablate::commands
