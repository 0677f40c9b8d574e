#include "data/batching.h"

#include <algorithm>
#include <numeric>

#include "data/random.h"

namespace ablate::data {
namespace {

using Indices = std::vector<int64_t>;

int64_t longer_side(const EncodedExample& example) {
  return static_cast<int64_t>(std::max(example.source.size(), example.target.size()));
}

std::vector<Indices> cut(std::span<const EncodedExample> examples, const Indices& order,
                         int64_t tokens_per_batch) {
  std::vector<Indices> batches;
  int64_t longest = 0;
  for (const int64_t index : order) {
    const int64_t length = longer_side(examples[static_cast<size_t>(index)]);
    const int64_t padded = std::max(longest, length);
    const bool fits = !batches.empty() &&
                      padded * static_cast<int64_t>(batches.back().size() + 1) <= tokens_per_batch;
    if (!fits) batches.emplace_back();
    longest = fits ? padded : length;
    batches.back().push_back(index);
  }
  return batches;
}

Indices by_length(std::span<const EncodedExample> examples, Indices order) {
  std::ranges::stable_sort(
      order, {}, [&](int64_t index) { return longer_side(examples[static_cast<size_t>(index)]); });
  return order;
}

Indices all_of(std::span<const EncodedExample> examples) {
  Indices order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

std::vector<Indices> batch_plan(std::span<const EncodedExample> examples,
                                const PlanOptions& options) {
  Random random(options.seed, "epoch", static_cast<uint64_t>(options.epoch));
  auto order = all_of(examples);
  random.shuffle(order);  // the stable sort keeps this order among equals
  auto batches = cut(examples, by_length(examples, std::move(order)), options.tokens_per_batch);
  random.shuffle(batches);
  return batches;
}

std::vector<Indices> ordered_plan(std::span<const EncodedExample> examples,
                                  int64_t tokens_per_batch) {
  return cut(examples, by_length(examples, all_of(examples)), tokens_per_batch);
}

}  // namespace ablate::data
