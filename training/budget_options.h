#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace ablate::training {

/// `training.steps` updates.
struct StepBudget {
  static constexpr std::string_view name = "steps";

  bool operator==(const StepBudget&) const = default;
  static void fields(auto&, auto&&) {}
  static void rules(const StepBudget&, auto&&) {}
};

/// As many updates as target tokens fit, by the mean of an update's first batches.
struct TokenBudget {
  static constexpr std::string_view name = "tokens";
  int64_t tokens = 1'000'000;

  bool operator==(const TokenBudget&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("tokens", o.tokens, "target tokens to train on, the end marks included");
  }
  static void rules(const TokenBudget& o, auto&& require) {
    require(o.tokens >= 1, "tokens", "must be positive");
  }
};

/// As many updates as floating-point operations fit: three times those of a forward pass.
struct FlopBudget {
  static constexpr std::string_view name = "flops";
  double flops = 1e15;

  bool operator==(const FlopBudget&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("flops", o.flops, "floating-point operations to train with: products of matrices only");
  }
  static void rules(const FlopBudget& o, auto&& require) {
    require(o.flops > 0, "flops", "must be positive");
  }
};

/// As many updates as fit into the time, by a few timed before the first one. Their number depends
/// on the machine and what else it does, and is then kept: only what follows is repeatable.
struct TimeBudget {
  static constexpr std::string_view name = "seconds";
  double seconds = 600;

  bool operator==(const TimeBudget&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("seconds", o.seconds,
          "time for updates, from which a run's first start derives their number by timing a few: "
          "another start from nothing gives another number, so such runs are not repeatable");
  }
  static void rules(const TimeBudget& o, auto&& require) {
    require(o.seconds > 0 && o.seconds <= 1e8, "seconds", "must be above 0 and at most 100000000");
  }
};

/// How long a run trains. Whatever the unit, the number of updates is fixed before the first one,
/// since schedules end with the last.
using BudgetOptions = std::variant<StepBudget, TokenBudget, FlopBudget, TimeBudget>;

}  // namespace ablate::training
