#pragma once

#include "models/attention/stages.h"
#include "models/ops/elementwise.h"

namespace ablate::models {

/// Every position decides how much each head forgets of earlier ones: the score of query i and key
/// j gets the sum of ln sigmoid(w x_l + b) over l = j + 1 ... i, with w and b of a head of keys
/// (Lin et al. 2025, Forgetting Transformer, arXiv 2503.02130, section 3.1). Queries and keys get
/// the sums up to their own positions, whose differences the products add to the scores.
class ForgettingStage : public Stage {
 public:
  ForgettingStage(Module& owner, const StagePlace& place)
      : groups_(place.heads().key_values),
        root_(place.root()),
        longer_(std::sqrt(static_cast<double>(place.heads().d_k + kWidth))),
        forget_(owner.register_module("forget", place.number_of_heads(groups_, true))) {}

  void project(Projections& own, const StagePass& pass) override {
    auto &query = *own.query(), &key = *own.key();
    const auto terms = (sums(pass) * longer_).unsqueeze(-1);  // [B, T, G, 1]
    const auto rounded = terms.to(query.scalar_type());
    const auto rest = (terms - rounded).to(query.scalar_type());
    const auto ones = torch::ones_like(rounded);
    // Scores are divided by the root of the longer width.
    const auto grouped = query.unflatten(2, {groups_, -1}) * (longer_ / root_);
    const auto of_query = torch::cat({rounded, rest, ones, ones}, -1)
                              .unsqueeze(-2)
                              .expand({-1, -1, -1, grouped.size(3), -1});  // [B, T, G, M / G, 4]
    query = torch::cat({grouped, of_query}, -1).flatten(2, 3);
    key = torch::cat({key, ones, ones, -rounded, -rest}, -1);
  }

  void begin(KVCache& cache, const torch::Tensor& like) const override {
    auto& key = cache.blocks.front()[0];
    key = key.narrow(-1, 0, 1).expand({-1, -1, -1, key.size(-1) + kWidth});
    cache.state[kSums] = torch::zeros_like(ops::wide(like.select(1, 0))).narrow(-1, 0, groups_);
  }

 private:
  /// Elements of a query and of a key: a sum, rounded, and its rest, or their factors.
  static constexpr int64_t kWidth = 4;
  static constexpr const char* kSums = "forget";  // so far // [B, G]

  /// Sums of the gates' logarithms up to each position. // [B, T, G]
  torch::Tensor sums(const StagePass& pass) {
    const auto own = at::log_sigmoid(ops::wide(forget_(pass.x))).cumsum(1);
    if (pass.cache == nullptr) return own;
    auto& so_far = pass.cache->state[kSums];
    const auto all = own + so_far.unsqueeze(1);
    so_far = all.select(1, -1);
    return all;
  }

  int64_t groups_;
  double root_, longer_;  // of the width of keys, before and after
  Linear forget_;
};

}  // namespace ablate::models
