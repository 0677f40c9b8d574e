#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "options/bounds.h"

namespace ablate::models {

struct NoScaling : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "angles as trained";
};

struct LinearScaling {
  static constexpr std::string_view name = "linear";
  static constexpr std::string_view about =
      "positions divided by the factor (Chen et al. 2023, position interpolation, arXiv "
      "2306.15595)";
  double factor = 2.0;
  static void fields(auto& o, auto&& visit) {
    visit("factor", o.factor, "how many times longer than trained", options::at_least(1));
  }
};

struct NtkScaling {
  static constexpr std::string_view name = "ntk";
  static constexpr std::string_view about =
      "the base raised, so that the slowest angle shrinks by the factor and the fastest stays "
      "(bloc97 2023)";
  double factor = 2.0;
  static void fields(auto& o, auto&& visit) {
    visit("factor", o.factor, "how many times longer than trained", options::at_least(1));
  }
};

/// Scores are scaled by the square of 0.1 ln(factor) + 1. The ramp is even in the pairs, from the
/// whole one below `fast` to the whole one above `slow`, as in the authors' code and Transformers;
/// the paper writes one that is even in turns.
struct YarnScaling {
  static constexpr std::string_view name = "yarn";
  static constexpr std::string_view about =
      "slow angles divided by the factor, fast ones as trained, a ramp between, and scores scaled "
      "(Peng et al. 2023, YaRN, arXiv 2309.00071)";
  double factor = 2.0;
  int64_t trained_length = 512;
  double fast = 32.0;
  double slow = 1.0;
  static void fields(auto& o, auto&& visit) {
    visit("factor", o.factor, "how many times longer than trained", options::at_least(1));
    visit("trained_length", o.trained_length, "the length trained on", options::at_least(1));
    visit("fast", o.fast, "turns within trained_length from which an angle stays as trained");
    visit("slow", o.slow, "turns within trained_length up to which an angle is divided by factor");
  }
  static void rules(const YarnScaling& o, auto&& require) {
    require(o.slow > 0 && o.fast > o.slow, "fast", "must exceed slow, which must exceed 0");
  }
};

/// As in its code: angles with fewer than `low` turns within trained_length are divided by factor,
/// those with more than `high` stay, and between them the share that stays increases evenly with
/// the number of turns.
struct Llama3Scaling {
  static constexpr std::string_view name = "llama3";
  static constexpr std::string_view about =
      "Llama 3.1's: slow angles divided by the factor, fast ones as trained, a mixture between "
      "(Grattafiori et al. 2024, arXiv 2407.21783)";
  double factor = 8.0;
  int64_t trained_length = 8192;
  double low = 1.0;
  double high = 4.0;
  static void fields(auto& o, auto&& visit) {
    visit("factor", o.factor, "how many times longer than trained", options::at_least(1));
    visit("trained_length", o.trained_length,
          "the length trained on (original_max_position_embeddings)", options::at_least(1));
    visit("low", o.low, "turns within trained_length up to which an angle is divided by factor");
    visit("high", o.high, "turns within trained_length from which an angle stays as trained");
  }
  static void rules(const Llama3Scaling& o, auto&& require) {
    require(o.low > 0 && o.high > o.low, "high", "must exceed low, which must exceed 0");
  }
};

using RotaryScaling =
    std::variant<NoScaling, LinearScaling, NtkScaling, YarnScaling, Llama3Scaling>;

}  // namespace ablate::models
