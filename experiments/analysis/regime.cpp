#include "experiments/analysis/regime.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "experiments/analysis/figure.h"

namespace ablate::analysis {
namespace {

using config::Range;

std::optional<Range> just(double value) {
  return value > 0 ? std::optional(Range{value, value}) : std::nullopt;
}

std::vector<std::optional<Range>> ranges_of(const config::RegimeOptions& regime) {
  std::vector<std::optional<Range>> ranges;
  config::RegimeOptions::fields(
      regime, [&](const char*, const auto& range, auto&&...) { ranges.push_back(range); });
  return ranges;
}

bool is_outside(const Range& source, double value) {
  return value < source[0] / kRegimeTolerance || value > source[1] * kRegimeTolerance;
}

/// "12", "12 to 24"
std::string range_text(const Range& range) {
  const auto low = count_figure(range[0]), high = count_figure(range[1]);
  return low == high ? low : low + " to " + high;
}

/// The share of the tokens read that are predicted: of a masked model those that are hidden.
double predicted_share(const config::Experiment& experiment) {
  const auto* text = std::get_if<data::Language>(&experiment.data);
  if (text == nullptr || experiment.model.family != models::Family::encoder_only) return 1;
  if (!text->diffusion) return text->masked;
  double sum = 0;  // k tokens of a block are hidden with a probability in inverse proportion to k
  for (int64_t k = 1; k <= text->block; ++k) sum += 1 / static_cast<double>(k);
  return 1 / sum;
}

}  // namespace

config::RegimeOptions regime_of(const config::Experiment& experiment,
                                const records::RunResult& run) {
  const auto& model = experiment.model;
  const auto parameters = static_cast<double>(run.parameters);
  const double read = static_cast<double>(run.tokens) / predicted_share(experiment);
  const auto text = static_cast<double>(run.text_tokens);
  config::RegimeOptions regime{.parameters = just(parameters),
                               .width = just(static_cast<double>(model.d_model)),
                               .length = just(static_cast<double>(run.longest_sequence))};
  regime.depth = just(static_cast<double>(
      std::max(depth_of(model, models::Side::encoder), depth_of(model, models::Side::decoder))));
  if (parameters > 0) regime.tokens_per_parameter = just(std::min(read, text) / parameters);
  if (text > 0) regime.epochs = just(read / text);
  return regime;
}

std::vector<std::string> outside(const config::RegimeOptions& source,
                                 const config::RegimeOptions& study) {
  const auto known = ranges_of(source), here = ranges_of(study);
  std::vector<std::string> found;
  size_t i = 0;
  config::RegimeOptions::fields(source, [&](const std::string& name, auto&&...) {
    if (known[i] && here[i] && is_outside(*known[i], here[i]->front()))
      found.push_back(fmt::format("{} {}, in the source {}", display_name(name),
                                  range_text(*here[i]), range_text(*known[i])));
    ++i;
  });
  return found;
}

}  // namespace ablate::analysis
