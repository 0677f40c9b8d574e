#include "training/head_importance.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "models/ops/linear_cross_entropy.h"
#include "models/transformer.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/errors.h"
#include "training/update.h"

namespace ablate::training {
namespace {

/// The attentions of a model, and the attention of each call of an observer.
struct Attentions {
  std::vector<models::AttentionName> names;
  std::vector<size_t> of_call;
};

Attentions attentions_in(const models::TransformerOptions& options) {
  Attentions attentions;
  for (const auto& name : models::attentions_of(options)) {
    const auto found = std::ranges::find(attentions.names, name);
    attentions.of_call.push_back(static_cast<size_t>(found - attentions.names.begin()));
    if (found == attentions.names.end()) attentions.names.push_back(name);
  }
  return attentions;
}

/// The gradient of each example's loss by the masks of all heads, which are 1. // [B, H] of each
std::vector<torch::Tensor> mask_gradients(models::Transformer& model, const BatchTensors& batch,
                                          const Attentions& attentions) {
  const torch::AutoGradMode recorded(true);
  std::vector<torch::Tensor> masks(attentions.names.size());
  size_t call = 0;
  const auto masked = [&](const torch::Tensor& heads) {  // [B, T, H, W]
    auto& mask = masks.at(attentions.of_call.at(call++));
    if (!mask.defined())
      mask = torch::ones({heads.size(0), 1, heads.size(2), 1}, heads.options())
                 .set_requires_grad(true);
    return heads * mask;
  };
  const models::Observer observer{.attention = {}, .heads = masked, .feed_forward_input = {}};
  const auto hidden = model->hidden(batch.source, batch.target_in, {.observer = &observer}).hidden;
  const auto loss = models::ops::linear_cross_entropy(
                        hidden, model->output(), batch.target_out,
                        {.ignored = models::ignored_target(model->labels(), tokenizer::kPad)})
                        .loss;
  auto gradients =
      torch::autograd::grad({loss}, masks, /*grad_outputs=*/{}, /*retain_graph=*/std::nullopt,
                            /*create_graph=*/false, /*allow_unused=*/true);
  for (size_t i = 0; i < masks.size(); ++i)
    gradients[i] =
        gradients[i].defined() ? gradients[i].flatten(1) : torch::zeros_like(masks[i]).flatten(1);
  return gradients;
}

}  // namespace

std::vector<HeadScore> head_importance(models::Transformer& model,
                                       std::span<const data::EncodedExample> examples,
                                       const LikelihoodOptions& options) {
  const auto attentions = attentions_in(model->options());
  const auto device = model->output_weight().device();
  std::vector<torch::Tensor> sums(attentions.names.size());  // [H]
  ScoredBatches batches(examples, options);
  for (int64_t i = 0; i < batches.count(); ++i) {
    const auto gradients = mask_gradients(model, to_tensors(batches.next(), device), attentions);
    for (size_t a = 0; a < sums.size(); ++a) {
      const auto sum = gradients[a].abs().sum(0, /*keepdim=*/false, torch::kDouble);
      sums[a] = sums[a].defined() ? sums[a] + sum : sum;
    }
  }
  std::vector<HeadScore> scores;
  for (size_t a = 0; a < sums.size(); ++a) {
    const auto mean = sums[a].cpu() / static_cast<double>(examples.size());
    const double norm = mean.norm().item<double>();
    if (!std::isfinite(norm))
      throw Diverged(fmt::format("the gradient by the heads of {} is not finite",
                                 text_of(attentions.names[a])));
    for (int64_t head = 0; head < mean.size(0); ++head)
      scores.push_back(
          {{attentions.names[a], head}, norm > 0 ? mean[head].item<double>() / norm : 0.0});
  }
  return scores;
}

}  // namespace ablate::training
