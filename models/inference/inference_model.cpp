#include "models/inference/inference_model.h"

#include "models/feed_forward/router.h"
#include "models/ops/backend.h"

namespace ablate::models {
namespace {

/// A separate model with the same weights.
std::shared_ptr<TransformerImpl> copy_of(const Transformer& trained) {
  const torch::NoGradGuard no_grad;
  auto copy = std::make_shared<TransformerImpl>(trained->options(), trained->vocabulary());
  const auto copy_each = [](const std::vector<torch::Tensor>& from, std::vector<torch::Tensor> to) {
    TORCH_CHECK(from.size() == to.size(),
                "a model with adapters must be merged before it is copied");
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

InferenceModel::InferenceModel(const Transformer& trained, WeightDtype dtype)
    : parameters_(parameter_count(*trained)), network_(copy_of(trained)) {
  const auto layout = layout_of(device().type(), dtype);
  if (layout == WeightLayout::packed) network_->prepack(dtype);
  if (layout == WeightLayout::cast) cast_weights(*network_, torch::kBFloat16);
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
                   const SpecialTokens& tokens, const Drafting& drafting)
    : models_(models), drafting_(drafting) {
  auto whole = source;
  if (tokens.start) {
    last_ = torch::full({source.size(0)}, tokens.start->value, source.options());
    whole = torch::cat({last_.unsqueeze(1), source}, 1);  // [R, 1 + S]
  }
  auto prompt = source;
  if (models.front().family() == Family::decoder_only) {
    TORCH_CHECK(whole.size(1) > 0, "without a start token a prompt needs a token");
    last_ = whole.select(1, -1);
    prompt = whole.slice(1, 0, -1);
  }
  TORCH_CHECK(last_.defined(), "a decoder behind an encoder needs a start token");
  for (size_t i = 0; i < models.size(); ++i)
    caches_.push_back(models[i].prefill(prompt, heads_of(i)));
}

torch::Tensor Ensemble::step() {
  if (!reached_) pass();
  reached_ = false;
  return logits_.select(1, at_);
}

void Ensemble::pass() {
  auto ids = last_.unsqueeze(1);  // [R, 1 + guesses]
  if (guesses_.defined()) ids = torch::cat({ids, guesses_}, 1);
  std::vector<torch::Tensor> votes;
  for (size_t i = 0; i < models_.size(); ++i) {
    auto output = models_[i].extend(ids, caches_[i], heads_of(i));
    votes.push_back(models_[i].project(output.hidden));
    if (i == 0) ahead_ = std::move(output.ahead);
  }
  if (votes.size() > 1) {
    for (auto& vote : votes) vote = vote.to(torch::kDouble).log_softmax(-1);
    logits_ = torch::stack(votes).logsumexp(0);
  } else {
    logits_ = votes.front();
  }
  at_ = 0;
}

torch::Tensor Ensemble::guesses() const {
  std::vector<torch::Tensor> guesses;
  const auto wanted = std::min(drafting_.tokens, drafting_.reads - 1);
  for (int64_t i = 0; i < wanted; ++i) {
    const auto hidden = ahead_[static_cast<size_t>(i)].select(1, at_);  // [R, D]
    guesses.push_back(models_.front().project(hidden).argmax(-1));
  }
  return guesses.empty() ? torch::Tensor() : torch::stack(guesses, 1);
}

void Ensemble::advance(const NextRows& next) {
  --drafting_.reads;
  const bool keeps = keeps_rows(next.parents, rows());
  last_ = ops::to_device(torch::tensor(next.tokens, torch::kLong), last_.device());
  reached_ = keeps && unread() > 0 && torch::equal(last_, guesses_.select(1, at_));
  if (reached_) {
    ++at_;
    return;
  }
  guesses_ = guesses();
  for (auto& cache : caches_)
    if (unread() > 0) cache.keep_first(cache.length - unread());
  if (keeps) return;
  const auto order = torch::tensor(next.parents, torch::kLong);  // on the CPU // [R']
  for (auto& cache : caches_) cache.reorder(order);
  if (guesses_.defined())
    guesses_ = guesses_.index_select(0, ops::to_device(order, last_.device()));
}

}  // namespace ablate::models
