#include "models/inference/ensemble.h"

namespace ablate::models {
namespace {

/// Whether every row continues itself.
bool keeps_rows(const std::vector<int64_t>& parents, int64_t rows) {
  if (std::ssize(parents) != rows) return false;
  for (int64_t row = 0; row < rows; ++row)
    if (parents[static_cast<size_t>(row)] != row) return false;
  return true;
}

}  // namespace

Ensemble::Ensemble(std::span<const InferenceModel> models, const torch::Tensor& source,
                   const SpecialTokens& tokens, double coverage_penalty)
    : models_(models), coverage_penalty_(coverage_penalty) {
  last_ = torch::full({source.size(0)}, tokens.start.value, source.options());
  auto prompt = source;
  if (models.front().family() == Family::decoder_only) {
    const auto whole = torch::cat({last_.unsqueeze(1), source}, 1);  // [R, 1 + S]
    last_ = whole.select(1, source.size(1));
    prompt = whole.slice(1, 0, source.size(1));
  }
  for (const auto& model : models) caches_.push_back(model.prefill(prompt));
  if (coverage_penalty_ == 0) return;
  padded_ = source.eq(tokens.pad.value);
  read_ = torch::zeros(source.sizes(), source.options().dtype(torch::kDouble));
}

torch::Tensor Ensemble::step() {
  torch::Tensor attention;  // of the last layer
  Observer observer;
  if (coverage_penalty_ > 0)
    observer.attention = [&](const torch::Tensor& probabilities) { attention = probabilities; };
  std::vector<torch::Tensor> votes;
  for (size_t i = 0; i < models_.size(); ++i) {
    votes.push_back(models_[i].step(last_, caches_[i], &observer));
    if (coverage_penalty_ > 0) add_attention(attention);
  }
  if (votes.size() == 1) return votes.front();
  for (auto& vote : votes) vote = vote.to(torch::kDouble).log_softmax(-1);
  return torch::stack(votes).logsumexp(0);
}

void Ensemble::add_attention(const torch::Tensor& probabilities) {
  TORCH_CHECK(probabilities.defined(), "a coverage penalty needs attention over a source");
  const auto heads = probabilities.select(2, 0);  // [R, H, S]
  read_ = read_ + heads.mean(1).to(torch::kDouble) / static_cast<double>(models_.size());
}

std::vector<double> Ensemble::coverage() const {
  if (coverage_penalty_ == 0) return {};
  // A token that nothing has read must not make a score infinite.
  const auto logs = read_.clamp(1e-9, 1.0).log().masked_fill(padded_, 0.0);  // [R, S]
  const auto sums = (logs.sum(1) * coverage_penalty_).cpu().contiguous();
  return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.size(0)};
}

void Ensemble::reorder(const torch::Tensor& rows) {
  for (auto& cache : caches_) cache.reorder(rows);
  if (coverage_penalty_ == 0) return;
  const auto there = rows.to(read_.device());
  read_ = read_.index_select(0, there);
  padded_ = padded_.index_select(0, there);
}

void Ensemble::advance(const NextRows& next) {
  if (!keeps_rows(next.parents, last_.size(0))) reorder(torch::tensor(next.parents, torch::kLong));
  last_ = torch::tensor(next.tokens, torch::kLong).to(last_.device());
}

}  // namespace ablate::models
