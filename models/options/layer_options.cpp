#include "models/options/layer_options.h"

#include "options/record.h"

namespace ablate::models {
namespace {

template <class Options>
bool have_equal_members(const Options& left, const Options& right) {
  return options::equal(options::type_of<Options>(), &left, &right);
}

}  // namespace

bool operator==(const LayerOptions& left, const LayerOptions& right) {
  return have_equal_members(left, right);
}
bool equal(const PositionOptions& left, const PositionOptions& right) {
  return have_equal_members(left, right);
}
bool equal(const FeedForwardOptions& left, const FeedForwardOptions& right) {
  return have_equal_members(left, right);
}

const DenseFeedForward* shared_feed_forward(const LayerOptions& layer) {
  const auto* dense = std::get_if<DenseFeedForward>(&layer.feed_forward);
  return dense != nullptr && dense->shared ? dense : nullptr;
}

bool share_feed_forward(const LayerOptions& one, const LayerOptions& other) {
  return shared_feed_forward(one) != nullptr && equal(one.feed_forward, other.feed_forward) &&
         one.canon.same_inside(other.canon);
}

}  // namespace ablate::models
