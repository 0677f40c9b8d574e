#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace ablate::training {

/// What is looked at in a model while it trains; training/observables.h defines each.
enum class Observable {
  attention_entropy,
  attention_sink,
  rank_residual,
  active_neurons,
  update_ratio,
  gradient_noise
};

constexpr auto names(Observable) {
  return std::to_array<std::pair<Observable, std::string_view>>(
      {{Observable::attention_entropy, "attention_entropy"},
       {Observable::attention_sink, "attention_sink"},
       {Observable::rank_residual, "rank_residual"},
       {Observable::active_neurons, "active_neurons"},
       {Observable::update_ratio, "update_ratio"},
       {Observable::gradient_noise, "gradient_noise"}});
}

constexpr std::string_view word(Observable what) {
  for (const auto& [observable, name] : names(what))
    if (observable == what) return name;
  return "";
}

/// Whether there is such a figure only where the model is trained.
constexpr bool is_of_updates(Observable what) {
  return what == Observable::update_ratio || what == Observable::gradient_noise;
}

/// When a model is observed, which changes nothing of its training.
struct ObserveOptions {
  int64_t every = 0;
  std::vector<int64_t> at;
  std::vector<Observable> what = all();

  static std::vector<Observable> all() {
    std::vector<Observable> observables;
    for (const auto& named : names(Observable{})) observables.push_back(named.first);
    return observables;
  }
  bool wants(Observable one) const { return std::ranges::find(what, one) != what.end(); }
  /// Whether there is any observation.
  bool looks() const { return every > 0 || !at.empty(); }
  /// Whether there is one after `step` of `steps`; 0: before the first.
  bool looks_after(int64_t step, int64_t steps) const {
    if (!looks()) return false;
    return step == 0 || step == steps || (every > 0 && step % every == 0) ||
           std::ranges::find(at, step) != at.end();
  }

  static void fields(auto& o, auto&& visit) {
    visit(
        "every", o.every,
        "steps between observations; where there are any, there is one before the first step and "
        "one after the last, too, and one alone where there are no steps; 0: none but those of at");
    visit("at", o.at, "steps after which there is an observation besides, such as [1, 10, 100]");
    visit("what", o.what,
          "entropy of the attention's weights, their share on the first key, what sets positions "
          "apart in the residual stream, share of non-zero neurons, updates in relation to the "
          "weights, noise of the gradient in relation to its size");
  }
  static void rules(const ObserveOptions& o, auto&& require) {
    require(o.every >= 0, "every", "must not be negative");
    require(std::ranges::all_of(o.at, [](int64_t step) { return step >= 1; }), "at",
            "must hold steps from 1 on; before the first there is an observation anyway");
    require(std::ranges::adjacent_find(o.at, std::greater_equal<>()) == o.at.end(), "at",
            "must name its steps in order, each once");
    require(!o.what.empty(), "what", "names nothing; to observe nothing leave every and at out");
    auto sorted = o.what;
    std::ranges::sort(sorted);
    require(std::ranges::adjacent_find(sorted) == sorted.end(), "what", "names one thing twice");
    require(o.looks() || o.what == all(), "what", "needs every or at");
  }
};

}  // namespace ablate::training
