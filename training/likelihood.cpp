#include "training/likelihood.h"

#include <fmt/format.h>

#include <cmath>

#include "data/batch.h"
#include "models/transformer.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/errors.h"
#include "training/update.h"

namespace ablate::training {
namespace {

constexpr uint64_t kMaskSeed = 1;
constexpr int64_t kFewestExamples = 10;

/// Counts target tokens at each position of a target, and how many of them were the likeliest.
class PositionCounts {
 public:
  explicit PositionCounts(torch::Device device)
      : right_(torch::zeros({0}, torch::TensorOptions(torch::kLong).device(device))),
        all_(right_) {}

  void add(const torch::Tensor& right, const torch::Tensor& padding_mask) {  // both [B, T]
    const auto position = padding_mask.cumsum(1).sub(1).clamp_min(0);        // [B, T]
    if (const auto missing = padding_mask.size(1) - all_.size(0); missing > 0) {
      right_ = torch::constant_pad_nd(right_, {0, missing});
      all_ = torch::constant_pad_nd(all_, {0, missing});
    }
    right_.scatter_add_(0, position.flatten(), right.flatten().to(torch::kLong));
    all_.scatter_add_(0, position.flatten(), padding_mask.flatten().to(torch::kLong));
  }

  /// The accuracies over all ranks, for targets of at most that length.
  std::vector<double> accuracy(const RankGroup& ranks, int64_t longest) const {
    const auto missing = std::max<int64_t>(0, longest - all_.size(0));
    const auto both = ranks.sum(torch::constant_pad_nd(torch::stack({right_, all_}), {0, missing}));
    const auto right = both[0].cpu(), all = both[1].cpu();
    std::vector<double> accuracy;
    for (int64_t i = 0; i < all.size(0) && all[i].item<int64_t>() >= kFewestExamples; ++i)
      accuracy.push_back(right[i].item<double>() / all[i].item<double>());
    return accuracy;
  }

 private:
  torch::Tensor right_, all_;  // [T]
};

/// Scores every example. Sums of batches are added on the host in their order, independent of the
/// rank that computed them.
Likelihood likelihood_on(auto& model, torch::Device device,
                         std::span<const data::EncodedExample> examples,
                         const LikelihoodOptions& options) {
  torch::NoGradGuard no_grad;
  const auto ignored = models::ignored_target(model.labels(), tokenizer::kPad);
  ScoredBatches batches(examples, options);
  const auto sums =
      torch::zeros({batches.count(), 2}, torch::TensorOptions(torch::kDouble).device(device));
  PositionCounts positions(device);
  Likelihood result;
  int64_t longest = 0;
  for (int64_t i = 0; i < batches.count(); ++i) {
    const auto batch = batches.next();
    result.tokens += batch.tokens;
    longest = std::max(longest, batch.target_length);
    if (i % options.ranks.size() != options.ranks.rank()) continue;
    const auto tensors = to_tensors(batch, device);
    const auto scores = model.score_targets(tensors.source, tensors.target_in, tensors.target_out);
    sums[i][0] += scores.nll.sum(torch::kDouble);
    sums[i][1] += scores.likeliest.sum().to(torch::kDouble);
    positions.add(scores.likeliest, tensors.target_out.ne(ignored));
  }
  const auto read = options.ranks.sum(sums).cpu();
  const auto count = static_cast<double>(std::max<int64_t>(result.tokens, 1));
  for (int64_t i = 0; i < read.size(0); ++i) {
    result.nll += read[i][0].item<double>();
    result.token_accuracy += read[i][1].item<double>();
  }
  if (!std::isfinite(result.nll))
    throw Diverged(
        fmt::format("the loss of {} target tokens is {}", result.tokens, unsigned_nan(result.nll)));
  result.nll /= count;
  result.token_accuracy /= count;
  result.position_accuracy = positions.accuracy(options.ranks, longest);
  return result;
}

}  // namespace

ScoredBatches::ScoredBatches(std::span<const data::EncodedExample> examples,
                             const LikelihoodOptions& options)
    : examples_(examples),
      plan_(data::ordered_plan(examples, options.tokens_per_batch)),
      masking_(options.masking) {}

data::Batch ScoredBatches::next() {
  const auto& indices = plan_.at(next_++);
  auto batch = data::collate(examples_, indices);
  if (masking_) data::mask_by_place(batch, indices, *masking_, kMaskSeed);
  return batch;
}

double Likelihood::perplexity() const { return std::exp(nll); }

Likelihood likelihood(models::Transformer& model, std::span<const data::EncodedExample> examples,
                      const LikelihoodOptions& options) {
  return likelihood_on(*model, model->output_weight().device(), examples, options);
}

Likelihood likelihood(const models::InferenceModel& model,
                      std::span<const data::EncodedExample> examples,
                      const LikelihoodOptions& options) {
  return likelihood_on(model, model.device(), examples, options);
}

}  // namespace ablate::training
