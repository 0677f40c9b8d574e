#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ablate::training {

/// How the neurons of a feed-forward are divided into experts.
enum class Grouping { random, clusters, coactivation };
constexpr auto names(Grouping) {
  return std::to_array<std::pair<Grouping, std::string_view>>(
      {{Grouping::random, "random"},
       {Grouping::clusters, "clusters"},
       {Grouping::coactivation, "coactivation"}});
}

/// The finished run whose tokenizer and weights training starts from, if any.
struct InitFromOptions {
  std::optional<std::string> run;
  std::optional<std::string> arm;
  std::optional<Grouping> split;
  int64_t positions = 20'000;

  bool given() const { return run || arm; }

  static void fields(auto& o, auto&& visit) {
    visit("run", o.run,
          "run folder, as data below --data, whose tokenizer, and weights of the same name and "
          "shape, training starts from; a dense feed-forward becomes every expert of a mixture of "
          "its width");
    visit("arm", o.arm, "the same from this arm's run of the same task and seed");
    visit("split", o.split,
          "divide its relu feed-forwards among the experts instead (MoEfication): random, clusters "
          "or coactivation");
    visit("positions", o.positions, "positions recorded to group neurons and train routers");
  }
  static void rules(const InitFromOptions& o, auto&& require) {
    require(!o.run || !o.arm, "arm", "and run exclude each other");
    require(!o.split || o.given(), "split", "needs run or arm");
    require(o.positions >= 100 && o.positions <= 10'000'000, "positions",
            "must be from 100 to 10000000");
  }
};

}  // namespace ablate::training
