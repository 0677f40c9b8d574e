#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::training {

/// Quantities observed in a model while it trains; training/update_observer.h defines each.
ABLATE_ENUM(Observable, attention_entropy, attention_sink, rank_residual, active_neurons,
            update_ratio, gradient_noise);

constexpr std::string_view word(Observable what) {
  for (const auto& [observable, name] : names(what))
    if (observable == what) return name;
  return "";
}

/// Whether the quantity exists only in training.
constexpr bool is_of_updates(Observable what) {
  return what == Observable::update_ratio || what == Observable::gradient_noise;
}

/// When a model is observed. Observing does not change the training.
struct ObserveOptions {
  int64_t every = 0;
  std::vector<int64_t> at;
  std::vector<Observable> quantities = all();

  static std::vector<Observable> all() {
    std::vector<Observable> observables;
    for (const auto& named : names(Observable{})) observables.push_back(named.first);
    return observables;
  }
  bool wants(Observable one) const {
    return std::ranges::find(quantities, one) != quantities.end();
  }
  /// Whether there is any observation.
  bool looks() const { return every > 0 || !at.empty(); }
  /// Whether there is an observation after `step` of `steps`; 0: before the first.
  bool looks_after(int64_t step, int64_t steps) const {
    if (!looks()) return false;
    return step == 0 || step == steps || (every > 0 && step % every == 0) ||
           std::ranges::find(at, step) != at.end();
  }

  static void fields(auto& o, auto&& visit) {
    visit("every", o.every,
          "steps between observations, with one before the first step and one after the last; 0: "
          "only at the steps in at",
          options::at_least(0));
    visit("at", o.at, "further steps after which to observe, such as [1, 10, 100]");
    visit("quantities", o.quantities,
          "entropy of the attention weights, their share on the first key, difference between "
          "positions in the residual stream, share of non-zero neurons, updates relative to the "
          "weights, gradient noise relative to the gradient");
  }
  static void rules(const ObserveOptions& o, auto&& require) {
    require(std::ranges::all_of(o.at, [](int64_t step) { return step >= 1; }), "at",
            "must hold steps from 1 on; before the first there is an observation anyway");
    require(std::ranges::adjacent_find(o.at, std::greater_equal<>()) == o.at.end(), "at",
            "must name its steps in order, each once");
    require(!o.quantities.empty(), "quantities",
            "is empty; to observe nothing leave every and at out");
    auto sorted = o.quantities;
    std::ranges::sort(sorted);
    require(std::ranges::adjacent_find(sorted) == sorted.end(), "quantities",
            "names one quantity twice");
    require(o.looks() || o.quantities == all(), "quantities", "needs every or at");
  }
};

}  // namespace ablate::training
