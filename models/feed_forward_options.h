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

/// The feed-forward that a layer with these options has: a mixture may stand for its dense twin.
inline FeedForwardOptions feed_forward_of(const FeedForwardOptions& options) {
  const auto* mixture = std::get_if<MixtureOptions>(&options);
  if (mixture == nullptr || mixture->match == Match::none) return options;
  return mixture->dense_twin(mixture->match);
}

}  // namespace ablate::models
