#pragma once

#include <string_view>
#include <variant>

#include "models/dense_options.h"
#include "models/empty_options.h"
#include "models/expert_options.h"

namespace ablate::models {

/// No sub-layer.
struct NoFeedForward : EmptyOptions {
  static constexpr std::string_view name = "none";
};

using FeedForwardOptions = std::variant<DenseFeedForward, MixtureOptions, NoFeedForward>;

/// What the layer with this number, from 0 on, has.
inline FeedForwardOptions feed_forward_of(const FeedForwardOptions& options, int64_t layer) {
  const auto* mixture = std::get_if<MixtureOptions>(&options);
  if (mixture == nullptr) return options;
  if ((layer + 1) % mixture->every != 0) return mixture->dense_twin(Match::active);
  if (mixture->match != Match::none) return mixture->dense_twin(mixture->match);
  return options;
}

}  // namespace ablate::models
