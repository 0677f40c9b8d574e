#include "models/position/numbering.h"

#include <ATen/CPUGeneratorImpl.h>

#include "models/position/position.h"

namespace ablate::models {
namespace {

/// The same for every run, so that runs of any seed are evaluated alike.
constexpr uint64_t kEvaluationSeed = 20'230'526;

/// `count` of the numbers 0 ... range - 1 in increasing order. // [count]
torch::Tensor sorted_subset(int64_t range, int64_t count, uint64_t seed) {
  const auto all = torch::randperm(range, at::detail::createCPUGenerator(seed), torch::kLong);
  return std::get<0>(all.slice(0, 0, count).sort());
}

}  // namespace

Numbering::Numbering(const NumberingOptions& options) {
  const auto* randomized = std::get_if<Randomized>(&options);
  if (randomized == nullptr) return;
  range_ = randomized->range;
  chosen_ = register_buffer("chosen", sorted_subset(range_, randomized->longest, kEvaluationSeed));
}

torch::Tensor Numbering::operator()(const torch::Tensor& places, Dropout& pass) const {
  if (range_ == 0) return places;
  if (!pass.trains()) return chosen_.index_select(0, places);
  return sorted_subset(range_, places.size(0), pass.next().seed).to(places.device());
}

void Numbering::check(int64_t length, const Dropout& pass) const {
  if (range_ == 0) return;
  const int64_t most = pass.trains() ? range_ : chosen_.size(0);
  if (length > most)
    throw LengthError("a sequence of " + std::to_string(length) + " pieces is longer than the " +
                      std::to_string(most) + " randomized positions; raise model.numbering." +
                      (pass.trains() ? "range" : "longest") + " or shorten the input");
}

}  // namespace ablate::models
