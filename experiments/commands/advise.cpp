#include "experiments/commands/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/carried_texts.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/number_flags.h"
#include "experiments/errors.h"
#include "experiments/report/markup.h"

namespace ablate::commands {
namespace {

constexpr double kFarthest = 10;  // times

std::string words_of(const TrainingScale& scale) {
  return fmt::format("{} parameters and {} tokens", report::large(scale.parameters),
                     report::large(scale.tokens));
}

TrainingScale scale_of(const nlohmann::json& measured) {
  return {measured.at("parameters").get<double>(), measured.at("tokens").get<double>()};
}

double decades(double one, double other) { return std::abs(std::log10(one / other)); }

/// The measurement that is nearest on both logarithmic scales, of those that are near; or null.
nlohmann::json nearest(const nlohmann::json& measured, const TrainingScale& scale) {
  nlohmann::json found;
  double least = INFINITY;
  for (const auto& one : measured) {
    const auto [parameters, tokens] = scale_of(one);
    const double x = decades(parameters, scale.parameters), y = decades(tokens, scale.tokens);
    if (std::max(x, y) > std::log10(kFarthest) || std::hypot(x, y) >= least) continue;
    least = std::hypot(x, y);
    found = one;
  }
  return found;
}

/// The gains by all studies of one scale: "+0.009, not shown; +0.018".
std::string gains_at(const TrainingScale& scale, const nlohmann::json& measured) {
  std::string all;
  for (const auto& one : measured)
    if (scale_of(one) == scale)
      all += (all.empty() ? "" : "; ") + one.at("gain").get<std::string>();
  return all;
}

/// The gain of each option of a choice, a line each; empty if no study is near.
std::string gains(const nlohmann::json& options, const TrainingScale& scale) {
  std::string lines;
  for (const auto& option : options) {
    const auto& measured = option.at("measured");
    const auto found = nearest(measured, scale);
    if (found.is_null()) continue;
    const auto there = scale_of(found);
    lines += fmt::format("    {}: {}, with {}\n", option.at("name").get<std::string>(),
                         gains_at(there, measured), words_of(there));
  }
  return lines;
}

/// The scales that were measured, least and most.
std::string measured_range(const nlohmann::json& choices) {
  TrainingScale least{INFINITY, INFINITY}, most;
  for (const auto& choice : choices)
    for (const auto& option : choice.at("options"))
      for (const auto& measured : option.at("measured")) {
        const auto [parameters, tokens] = scale_of(measured);
        least = {std::min(least.parameters, parameters), std::min(least.tokens, tokens)};
        most = {std::max(most.parameters, parameters), std::max(most.tokens, tokens)};
      }
  return fmt::format("{} to {}", words_of(least), words_of(most));
}

}  // namespace

std::string advise(const nlohmann::json& choices, const TrainingScale& scale) {
  auto text = fmt::format(
      "What to use, by all measurements of the atlas, and the gains over the usual option that\n"
      "were measured nearest to {}, in nats of loss unless they say otherwise.\n",
      words_of(scale));
  bool any = false;
  for (const auto& choice : choices) {
    const auto lines = gains(choice.at("options"), scale);
    any = any || !lines.empty();
    text +=
        fmt::format("\n{} (usually {})\n  {}\n{}", choice.at("choice").get<std::string>(),
                    choice.at("usual").get<std::string>(), choice.at("advice").get<std::string>(),
                    lines.empty() ? "    nothing was measured near this size\n" : lines);
  }
  if (!any)
    throw UsageError(
        fmt::format("nothing was measured within {} times of {}; the atlas has {}, and says "
                    "nothing beyond that",
                    kFarthest, words_of(scale), measured_range(choices)));
  return text;
}

void add_advise(CLI::App& app) {
  auto scale = std::make_shared<TrainingScale>();
  auto* verb = app.add_subcommand("advise", "Say which parts helped at a size, by the atlas");
  const auto add = [verb](const char* name, double& size, const char* what) {
    verb->add_option(name, size, what)
        ->required()
        ->type_name("NUMBER")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, double>{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"B", 1e9}},
            CLI::AsNumberWithUnit::CASE_SENSITIVE, ""))
        ->check(above_zero());
  };
  add("--parameters", scale->parameters, "Parameters of the model, such as 150k");
  add("--tokens", scale->tokens, "Tokens of its training, such as 3M");
  verb->footer(
      "The atlas asked published claims again, in small; its pages have intervals and sources.\n"
      "Example:\n  ablate advise --parameters 150k --tokens 3M");
  verb->callback([scale] {
    std::cout << advise(nlohmann::json::parse(text_named(atlas_advice(), "advice")), *scale);
  });
}

}  // namespace ablate::commands
