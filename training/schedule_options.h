#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace ablate::training {

/// What every schedule has: a linear warm-up to `peak`.
struct Warmup {
  double peak = 1e-3;
  int64_t warmup = 0;

  static void fields(auto& o, auto&& visit) {
    visit("peak", o.peak, "highest learning rate, reached at the end of the warm-up");
    visit("warmup", o.warmup, "steps of linear warm-up");
  }
  static void rules(const Warmup& o, auto&& require) {
    require(o.peak > 0 && o.peak <= 100, "peak", "must be above 0 and at most 100");
    require(o.warmup >= 0, "warmup", "must not be negative");
  }
};

/// peak after the warm-up.
struct Constant : Warmup {
  static constexpr std::string_view name = "constant";
};

/// peak sqrt(warmup / step): the paper's schedule, whose peak is (d_model warmup)^-1/2.
struct InverseSquareRoot : Warmup {
  static constexpr std::string_view name = "inverse_square_root";
};

/// Members of the schedules that end at `floor` on the last step.
struct Decay : Warmup {
  double floor = 0.0;

  static void fields(auto& o, auto&& visit) {
    Warmup::fields(o, visit);
    visit("floor", o.floor, "learning rate at the last step");
  }
  static void rules(const Decay& o, auto&& require) {
    Warmup::rules(o, require);
    require(o.floor >= 0 && o.floor <= o.peak, "floor", "must be from 0 to peak");
  }
};

struct Cosine : Decay {
  static constexpr std::string_view name = "cosine";
};

struct Linear : Decay {
  static constexpr std::string_view name = "linear";
};

using ScheduleOptions = std::variant<Constant, InverseSquareRoot, Cosine, Linear>;

}  // namespace ablate::training
