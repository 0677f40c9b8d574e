#include "experiments/cli/path_flags.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "experiments/config/file_check.h"
#include "experiments/config/scalar.h"

namespace ablate::cli {
namespace {

/// Options of text that a model reads or writes.
constexpr std::array<std::string_view, 3> kTexts{"--text", "--target", "--prompt"};

std::string why_no_path(const std::string& path) {
  const auto meant = config::without_tilde(path);
  return meant.empty() ? "" : config::in_quotes(path) + " is no path" + meant;
}

}  // namespace

void refuse_tildes(CLI::App& app) {
  for (auto* option : app.get_options())
    if (option->get_type_name().starts_with("TEXT") &&
        std::ranges::find(kTexts, option->get_name()) == kTexts.end())
      option->check(CLI::Validator([](const std::string& text) { return why_no_path(text); }, ""));
  for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) refuse_tildes(*verb);
}

}  // namespace ablate::cli
