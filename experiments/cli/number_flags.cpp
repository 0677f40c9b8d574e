#include "experiments/cli/number_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "experiments/config/scalar.h"

namespace ablate::cli {
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

/// Why `text` is no such number; empty where it is one.
std::string fault_of(const std::string& text, Number number, bool is_list) {
  if (number == Number::real) return config::parse_number(scalar(text)).why;
  const auto parsed = config::parse_integer(scalar(text));
  if (!parsed.value) return parsed.why + (is_list ? as_list(text) : "");
  if (number == Number::count && *parsed.value < 0) return "must not be negative";
  return {};
}

void read_strictly(CLI::Option& option, Number number) {
  const bool is_list = option.get_delimiter() != '\0';
  // Before any other check, which would read the text in its own way.
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

}  // namespace ablate::cli
