#pragma once

#include <array>
#include <optional>

namespace ablate::config {

/// The lowest and the highest value.
using Range = std::array<double, 2>;

constexpr bool is_range(const Range& range) { return range[0] > 0 && range[1] >= range[0]; }

/// The range for which the source of a claim speaks, or the values of a study. What is absent is
/// unknown.
struct RegimeOptions {
  std::optional<Range> parameters, depth, width, length, tokens_per_parameter, epochs;

  static void fields(auto& o, auto&& visit) {
    visit("parameters", o.parameters, "parameters of the source's models, lowest and highest");
    visit("depth", o.depth, "layers of the deeper stack");
    visit("width", o.width, "d_model");
    visit("length", o.length, "tokens of the longest training sequence");
    visit("tokens_per_parameter", o.tokens_per_parameter,
          "different training tokens for each parameter, as far as they are read");
    visit("epochs", o.epochs, "how often the training text is read");
  }
  static void rules(const RegimeOptions& o, auto&& require) {
    fields(o, [&](const char* name, const std::optional<Range>& range, auto&&...) {
      require(!range || is_range(*range), name,
              "must be the lowest and the highest of positive numbers, such as [1.0e6, 1.0e8]");
    });
  }
};

/// Whether it has a range.
inline bool is_given(const RegimeOptions& regime) {
  bool any = false;
  RegimeOptions::fields(regime, [&](const char*, const std::optional<Range>& range, auto&&...) {
    any = any || range.has_value();
  });
  return any;
}

}  // namespace ablate::config
