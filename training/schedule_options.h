#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::training {

/// Members of every schedule: a linear warm-up to `peak`.
struct Warmup {
  double peak = 1e-3;
  int64_t warmup = 0;

  static void fields(auto& o, auto&& visit) {
    // The square of every rate of its warm-up, by which schedule_free averages, is above 0.
    visit("peak", o.peak, "highest learning rate, reached at the end of the warm-up",
          options::from(1e-100, 100));
    visit("warmup", o.warmup, "steps of linear warm-up", options::at_least(0));
  }
};

struct Constant : Warmup {
  static constexpr std::string_view name = "constant";
  static constexpr std::string_view about = "the peak, after the warm-up";
};

/// peak sqrt(warmup / step); the paper's peak is (d_model warmup)^-1/2.
struct InverseSquareRoot : Warmup {
  static constexpr std::string_view name = "inverse_square_root";
  static constexpr std::string_view about =
      "after the warm-up a fall with the inverse square root of the step (Vaswani et al. 2017, "
      "arXiv 1706.03762)";
};

/// Members of the schedules that end at `floor` on the last step.
struct Decay : Warmup {
  double floor = 0.0;

  static void fields(auto& o, auto&& visit) {
    Warmup::fields(o, visit);
    visit("floor", o.floor, "learning rate at the last step");
  }
  static void rules(const Decay& o, auto&& require) {
    require(o.floor >= 0 && o.floor <= o.peak, "floor", "must be from 0 to peak");
  }
};

struct Cosine : Decay {
  static constexpr std::string_view name = "cosine";
  static constexpr std::string_view about =
      "after the warm-up half a wave of a cosine down to the floor (Loshchilov & Hutter 2017, "
      "arXiv "
      "1608.03983)";
};

struct Linear : Decay {
  static constexpr std::string_view name = "linear";
  static constexpr std::string_view about = "after the warm-up a straight line down to the floor";
};

/// How a learning rate falls from the peak to the floor over the share x of its way: by 1 - x, by
/// 1 - sqrt(x) (Haegele et al. 2024), or by equal factors (Hu et al. 2024, MiniCPM).
ABLATE_ENUM(DecayShape, linear, square_root, exponential);

/// Section 4.3 (MiniCPM).
struct Stable : Decay {
  static constexpr std::string_view name = "stable";
  static constexpr std::string_view about =
      "warm-up, peak, and a fall over the last share of all steps (Hu et al. 2024, arXiv "
      "2404.06395)";
  double decay = 0.2;
  DecayShape shape = DecayShape::linear;

  static void fields(auto& o, auto&& visit) {
    Decay::fields(o, visit);
    visit("decay", o.decay, "share of all steps, at the end, in which the rate falls to the floor",
          options::above(0, 1));
    visit("shape", o.shape, "shape of the decay: linear, square_root (1 - sqrt) or exponential");
  }
  static void rules(const Stable& o, auto&& require) {
    Decay::rules(o, require);
    require(o.shape != DecayShape::exponential || o.floor > 0, "floor",
            "must be above 0 if shape is exponential");
  }
};

using ScheduleOptions = std::variant<Constant, InverseSquareRoot, Cosine, Linear, Stable>;

/// The highest learning rate of a schedule.
inline double peak_of(const ScheduleOptions& schedule) {
  return std::visit([](const Warmup& held) { return held.peak; }, schedule);
}

}  // namespace ablate::training
