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
                   const SpecialTokens& tokens)
    : models_(models) {
  last_ = torch::full({source.size(0)}, tokens.start.value, source.options());
  auto prompt = source;
  if (models.front().family() == Family::decoder_only) {
    const auto whole = torch::cat({last_.unsqueeze(1), source}, 1);  // [R, 1 + S]
    last_ = whole.select(1, source.size(1));
    prompt = whole.slice(1, 0, source.size(1));
  }
  for (const auto& model : models) caches_.push_back(model.prefill(prompt));
}

torch::Tensor Ensemble::step() {
  std::vector<torch::Tensor> votes;
  for (size_t i = 0; i < models_.size(); ++i) votes.push_back(models_[i].step(last_, caches_[i]));
  if (votes.size() == 1) return votes.front();
  for (auto& vote : votes) vote = vote.to(torch::kDouble).log_softmax(-1);
  return torch::stack(votes).logsumexp(0);
}

void Ensemble::advance(const NextRows& next) {
  if (!keeps_rows(next.parents, last_.size(0))) {
    const auto rows = torch::tensor(next.parents, torch::kLong);  // on the CPU // [R']
    for (auto& cache : caches_) cache.reorder(rows);
  }
  last_ = torch::tensor(next.tokens, torch::kLong).to(last_.device());
}

}  // namespace ablate::models
