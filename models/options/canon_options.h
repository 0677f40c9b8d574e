#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "options/bounds.h"

namespace ablate::models {

/// The place of a short convolution in a layer, with the letters of Allen-Zhu 2025: after the norm
/// before each sub-layer (a, c), or after the first projection of each (b, d).
enum class CanonPlace { attention, projections, feed_forward, hidden };

constexpr auto names(CanonPlace) {
  return std::to_array<std::pair<CanonPlace, std::string_view>>({{CanonPlace::attention, "a"},
                                                                 {CanonPlace::projections, "b"},
                                                                 {CanonPlace::feed_forward, "c"},
                                                                 {CanonPlace::hidden, "d"}});
}

/// Short convolutions over the last positions of every channel (Canon layers, Allen-Zhu 2025,
/// arXiv 2512.17351). In an encoder, too, they look to the left.
struct CanonOptions {
  std::vector<CanonPlace> places;
  int64_t width = 4;
  bool residual = true;

  static void fields(auto& o, auto&& visit) {
    visit("places", o.places,
          "where a layer has them: a (on the attention's input), b (on queries, keys and values), "
          "c (on the feed-forward's input), d (in the feed-forward, before the activation)");
    visit("width", o.width, "positions that each reads: its own and those before it",
          options::from(2, 64));
    visit("residual", o.residual, "whether the input of each is added to its output");
  }
  static void rules(const CanonOptions& o, auto&& require) {
    require(std::ranges::is_sorted(o.places, std::less_equal()), "places",
            "must have each place at most once, in the order a, b, c, d");
  }

  bool has(CanonPlace place) const { return std::ranges::find(places, place) != places.end(); }
  /// Whether feed-forwards with these options have the same inside.
  bool same_inside(const CanonOptions& other) const {
    if (has(CanonPlace::hidden) != other.has(CanonPlace::hidden)) return false;
    return !has(CanonPlace::hidden) || (width == other.width && residual == other.residual);
  }
};

}  // namespace ablate::models
