#include "training/pass.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "models/feed_forward/feed_forward.h"
#include "models/module.h"
#include "models/random.h"
#include "tokenizer/special_tokens.h"

namespace ablate::training {

torch::Tensor packed(const data::Batch& batch, torch::Device device) {
  const std::array ids{&batch.source, &batch.target_in, &batch.target_out};
  int64_t count = 1;
  for (const auto* part : ids) count += std::ssize(*part);
  auto numbers =
      torch::empty({count}, torch::TensorOptions(torch::kLong).pinned_memory(device.is_cuda()));
  auto* next = numbers.mutable_data_ptr<int64_t>();
  for (const auto* part : ids) next = std::ranges::copy(*part, next).out;
  *next = batch.tokens;
  return numbers;
}

BatchTensors unpacked(const torch::Tensor& numbers, const data::Batch& batch) {
  const auto parts = numbers.split_with_sizes(
      {std::ssize(batch.source), std::ssize(batch.target_in), std::ssize(batch.target_out), 1});
  return {.source = parts[0].view({batch.rows, batch.source_length}),
          .target_in = parts[1].view({batch.rows, batch.target_length}),
          .target_out = parts[2].view({batch.rows, batch.target_length}),
          .tokens = parts[3].squeeze(0)};
}

BatchTensors to_tensors(const data::Batch& batch, torch::Device device) {
  return unpacked(packed(batch, device).to(device, /*non_blocking=*/true), batch);
}

std::vector<torch::Tensor> trained_parameters(const models::TransformerImpl& model) {
  auto parameters = model.parameters();
  std::erase_if(parameters, [](const auto& parameter) { return !parameter.requires_grad(); });
  return parameters;
}

namespace {

/// Of tables only one that is also the output layer's.
std::vector<torch::Tensor> weights_read_by(const models::TransformerImpl& model) {
  std::vector<torch::Tensor> weights;
  for (const auto& module : model.modules())
    if (const auto* own = dynamic_cast<const models::Module*>(module.get()))
      for (const auto& parameter : own->own_parameters())
        if (parameter.role != models::Role::embedding ||
            parameter.tensor.is_same(model.output_weight()))
          weights.push_back(parameter.tensor);
  return weights;
}

/// The targets of the head that predicts `by` tokens further ahead: padding if the row ends or
/// another document begins before that token. // [B, T] -> [B, T]
torch::Tensor later_targets(const models::TransformerImpl& model, const BatchTensors& batch,
                            int64_t by) {
  const auto later = [&](const torch::Tensor& x, int64_t filler) {
    return torch::constant_pad_nd(x.slice(1, by), {0, std::min(by, x.size(1))}, filler);
  };
  const auto targets = later(batch.target_out, tokenizer::kPad);
  const auto& divider = model.vocabulary().divider;
  if (!divider) return targets;
  const auto document = batch.target_in.eq(*divider).cumsum(1);  // [B, T]
  return targets.masked_fill(later(document, -1).ne(document), tokenizer::kPad);
}

}  // namespace

std::unique_ptr<models::ops::WeightCasts> cast_weights(const models::TransformerImpl& model,
                                                       const models::ForwardContext& context) {
  if (context.compute_dtype != torch::kBFloat16 || !model.output_weight().is_cuda()) return nullptr;
  return std::make_unique<models::ops::WeightCasts>(weights_read_by(model), torch::kBFloat16);
}

PassOutput forward_backward(models::TransformerImpl& model, const PassInput& input,
                            const models::ForwardContext& context, const LossTerms& loss,
                            const std::function<void()>& forward_done) {
  const auto& batch = input.batch;
  const auto output = model.hidden(batch.source, batch.target_in, context);
  std::vector<models::RoutingStatistics> mixtures;
  for (const auto& routing : output.routings) mixtures.push_back(models::statistics_of(routing));
  const auto loss_of = [&](const torch::Tensor& hidden, const torch::Tensor& targets, size_t head) {
    std::optional<uint64_t> draw_seed;
    if (loss.drawn) draw_seed = models::derive_seed(context.seed, "targets", head);
    return models::ops::linear_cross_entropy(
        hidden, model.output(), targets,
        {.ignored = models::ignored_target(model.labels(), tokenizer::kPad),
         .smoothing = loss.smoothing,
         .z = loss.z,
         .draw_seed = draw_seed});
  };
  const auto losses = loss_of(output.hidden, batch.target_out, 0);
  auto objective = losses.loss;
  for (size_t i = 0; i < output.ahead.size(); ++i) {
    const auto targets = later_targets(model, batch, static_cast<int64_t>(i) + 1);
    objective = objective + loss_of(output.ahead[i], targets, i + 1).loss * loss.ahead;
  }
  forward_done();
  if (const auto aux_loss = models::aux_loss(mixtures); aux_loss.defined() && !loss.drawn)
    objective = objective + aux_loss * batch.tokens;
  objective.backward(input.share);
  if (input.casts != nullptr) input.casts->add_gradients();
  return {losses.loss.detach(), losses.nll, std::move(mixtures)};
}

}  // namespace ablate::training
