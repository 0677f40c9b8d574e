#include "models/inference/inference_model.h"

#include "models/ops/backend.h"
#include "models/router.h"

namespace ablate::models {
namespace {

/// A separate model with the same weights.
Transformer copy_of(const Transformer& trained) {
  const torch::NoGradGuard no_grad;
  Transformer copy(trained->options(), trained->vocabulary());
  const auto copy_each = [](const std::vector<torch::Tensor>& from, std::vector<torch::Tensor> to) {
    for (size_t i = 0; i < from.size(); ++i) {
      to[i].set_data(from[i].detach().clone());
      to[i].set_requires_grad(false);
    }
  };
  copy_each(trained->parameters(), copy->parameters());
  copy_each(trained->buffers(), copy->buffers());
  return copy;
}

}  // namespace

WeightLayout layout_of(torch::DeviceType device, WeightDtype dtype) {
  if (device == torch::kCPU) return WeightLayout::packed;
  switch (dtype) {
    case WeightDtype::fp32:
      return WeightLayout::dense;
    case WeightDtype::bf16:
      return WeightLayout::cast;
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

void cast_weights(torch::nn::Module& module, torch::ScalarType dtype) {
  const torch::NoGradGuard no_grad;
  if (dynamic_cast<const Router*>(&module) != nullptr) return;
  for (auto& tensor : module.parameters(/*recurse=*/false)) tensor.set_data(tensor.to(dtype));
  for (auto& tensor : module.buffers(/*recurse=*/false))
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(dtype));
  for (const auto& child : module.children()) cast_weights(*child, dtype);
}

InferenceModel::InferenceModel(const Transformer& trained, WeightDtype dtype) : network_(nullptr) {
  const auto layout = layout_of(trained->output_weight().device().type(), dtype);
  network_ = copy_of(trained);
  if (layout == WeightLayout::packed) network_->prepack(dtype);
  if (layout == WeightLayout::cast) cast_weights(*network_, torch::kBFloat16);
}

torch::Tensor InferenceModel::forward(const torch::Tensor& source,
                                      const torch::Tensor& target) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->forward(source, target);
}

ops::TargetScores InferenceModel::score_targets(const torch::Tensor& source,
                                                const torch::Tensor& target_in,
                                                const torch::Tensor& target_out) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->score_targets(source, target_in, target_out);
}

DecoderCache InferenceModel::prefill(const torch::Tensor& source) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->prefill(source);
}

torch::Tensor InferenceModel::step(const torch::Tensor& last, DecoderCache& cache) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->step(last, cache);
}

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
  last_ = ops::to_device(torch::tensor(next.tokens, torch::kLong), last_.device());
}

}  // namespace ablate::models
