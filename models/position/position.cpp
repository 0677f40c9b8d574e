#include "models/position/position.h"

#include "models/generator.h"
#include "models/ops/backend.h"

namespace ablate::models {

torch::Tensor Position::embedding(const torch::Tensor&, int64_t) { return {}; }
torch::Tensor Position::row_embedding(const torch::Tensor&, const torch::Tensor&) { return {}; }
bool Position::every_layer() const { return false; }
ops::Rotation Position::rotation(const torch::Tensor&, int64_t) { return {}; }
torch::Tensor Position::bias(const torch::Tensor&, const torch::Tensor&) { return {}; }
void Position::check(int64_t) const {}
bool Position::attends() const { return false; }
torch::Tensor Position::attend(const ops::ContentAttention&) { return {}; }

PositionTerms Position::terms(const torch::Tensor& query, const torch::Tensor& key) {
  return {embedding(query, key.size(0)),
          every_layer(),
          {rotation(query, key.size(0)), bias(query, key), attends() ? this : nullptr, query, key}};
}

std::shared_ptr<Position> make_position(const PositionOptions& options,
                                        const PositionContext& context) {
  return std::visit([&](const auto& scheme) { return scheme.make(context); }, options);
}

std::shared_ptr<Position> NoPosition::make(const PositionContext&) const {
  return std::make_shared<Position>();
}

namespace {

/// The same for every run, so that runs of any seed are evaluated alike.
constexpr uint64_t kEvaluationSeed = 20'230'526;

/// `count` of the numbers 0 ... range - 1 in increasing order. // [count]
torch::Tensor sorted_subset(int64_t range, int64_t count, uint64_t seed) {
  const auto all = torch::randperm(range, seeded_generator(seed), torch::kLong);
  return std::get<0>(all.slice(0, 0, count).sort());
}

}  // namespace

PositionIds::PositionIds(const PositionIdsOptions& options) {
  const auto* randomized = std::get_if<Randomized>(&options);
  if (randomized == nullptr) return;
  range_ = randomized->range;
  chosen_ = register_buffer("chosen", sorted_subset(range_, randomized->longest, kEvaluationSeed));
}

torch::Tensor PositionIds::operator()(const torch::Tensor& indices,
                                      const ForwardContext& context) const {
  if (range_ == 0) return indices;
  if (!context.training) return chosen_.index_select(0, indices);
  return noise_tensor(
      {indices.sizes().vec(), indices.options()}, context.noise_at(site()),
      [range = range_](torch::Tensor& drawn, uint64_t seed) {
        drawn.copy_(ops::to_device(sorted_subset(range, drawn.size(0), seed), drawn.device()));
      });
}

void PositionIds::check(int64_t length, const ForwardContext& context) const {
  if (range_ == 0) return;
  const int64_t most = context.training ? range_ : chosen_.size(0);
  if (length > most)
    throw LengthError("a sequence of " + std::to_string(length) + " tokens is longer than the " +
                      std::to_string(most) + " randomized positions; raise model.position_ids." +
                      (context.training ? "range" : "longest") + " or shorten the input");
}

}  // namespace ablate::models
