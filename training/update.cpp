#include "training/update.h"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>

#include <cmath>
#include <numeric>

#include "models/mixture.h"
#include "models/ops/linear_cross_entropy.h"
#include "models/random.h"
#include "tokenizer/special_ids.h"

namespace ablate::training {
namespace {

/// What the forward passes of an update leave.
struct Sums {
  models::ops::CrossEntropy losses;
  std::vector<models::RoutingStatistics> mixtures;  // of the last batch
  std::vector<torch::Tensor> counts;  // of every mixture, positions sent to each expert // [E]
};

models::ForwardContext context_of(const UpdateOptions& options, size_t batch) {
  models::ForwardContext context{.training = true,
                                 .dropout = options.dropout,
                                 .seed = models::derive_seed(options.dropout_seed, "batch", batch)};
  if (options.bfloat16) context.compute_dtype = torch::kBFloat16;
  return context;
}

/// Positions sent to each expert of every mixture, added to those of earlier batches.
void add_counts(Sums& sums) {
  sums.counts.resize(sums.mixtures.size());
  for (size_t m = 0; m < sums.counts.size(); ++m) {
    auto& counts = sums.counts[m];
    counts = counts.defined() ? counts + sums.mixtures[m].counts : sums.mixtures[m].counts;
  }
}

/// Leaves the gradient of the mean loss in the parameters, a token of which has the weight `share`;
/// returns the sums over all batches.
Sums backward_all(models::Transformer& model, std::span<const data::Batch> batches,
                  const UpdateOptions& options, double share) {
  const auto device = model->output_weight().device();
  Sums sums;
  for (size_t i = 0; i < batches.size(); ++i) {
    const auto tensors = to_tensors(batches[i], device);
    options.finished(UpdatePart::data);
    const auto output = model->hidden(tensors.source, tensors.target_in, context_of(options, i));
    sums.mixtures.clear();
    for (const auto& routing : output.routings)
      sums.mixtures.push_back(models::statistics_of(routing));
    add_counts(sums);
    const auto losses = models::ops::linear_cross_entropy(
        output.hidden, model->output_weight(), tensors.target_out,
        {.ignored = tokenizer::kPad, .smoothing = options.label_smoothing});
    options.finished(UpdatePart::forward);
    auto objective = losses.loss;
    if (const auto aux_loss = models::aux_loss(sums.mixtures); aux_loss.defined())
      objective = objective + aux_loss * static_cast<double>(batches[i].tokens);
    objective.backward(torch::full({}, share, objective.options()));
    options.finished(UpdatePart::backward);
    const auto loss = losses.loss.detach();
    sums.losses.loss = i == 0 ? loss : sums.losses.loss + loss;
    sums.losses.nll = i == 0 ? losses.nll : sums.losses.nll + losses.nll;
  }
  return sums;
}

void update_selection_biases(const models::TransformerImpl& model,
                             const std::vector<torch::Tensor>& counts) {
  if (counts.empty()) return;
  size_t next = 0;
  for (const auto& module : model.modules())
    if (const auto mixture = std::dynamic_pointer_cast<models::Mixture>(module))
      mixture->update_selection_bias(counts.at(next++));
}

torch::Tensor norm_of(const std::vector<torch::Tensor>& gradients) {
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
}

}  // namespace

BatchTensors to_tensors(const data::Batch& batch, torch::Device device) {
  // One buffer, pinned for a GPU: a single copy that the host need not wait for.
  std::vector<int64_t> sizes;
  for (const auto* ids : {&batch.source, &batch.target_in, &batch.target_out})
    sizes.push_back(std::ssize(*ids));
  auto all = torch::empty({std::accumulate(sizes.begin(), sizes.end(), int64_t{0})},
                          torch::TensorOptions(torch::kLong).pinned_memory(device.is_cuda()));
  auto* next = all.mutable_data_ptr<int64_t>();
  for (const auto* ids : {&batch.source, &batch.target_in, &batch.target_out})
    next = std::copy(ids->begin(), ids->end(), next);
  const auto parts = all.to(device, /*non_blocking=*/true).split_with_sizes(sizes);
  return {parts[0].view({batch.rows, batch.source_length}),
          parts[1].view({batch.rows, batch.target_length}),
          parts[2].view({batch.rows, batch.target_length})};
}

StepRecord update(models::Transformer& model, Optimizer& optimizer,
                  std::span<const data::Batch> batches, const UpdateOptions& options) {
  StepRecord record;
  for (const auto& batch : batches) record.tokens += batch.tokens;
  const double share = 1.0 / static_cast<double>(record.tokens);
  const auto sums = backward_all(model, batches, options, share);
  const auto gradients = optimizer.gradients();
  const auto read = torch::stack({sums.losses.loss, sums.losses.nll, norm_of(gradients)}).cpu();
  record.loss = read[0].item<double>() * share;
  record.nll = read[1].item<double>() * share;
  record.gradient_norm = read[2].item<double>();
  if (options.mixtures) record.mixtures = mixture_records(*model, sums.mixtures);
  record.skipped = !std::isfinite(record.loss) || !std::isfinite(record.gradient_norm);
  if (!record.skipped) {
    if (options.clip > 0 && record.gradient_norm > options.clip) {
      torch::NoGradGuard no_grad;
      at::_foreach_mul_(gradients, options.clip / (record.gradient_norm + 1e-6));
    }
    optimizer.step(options.learning_rate);
    update_selection_biases(*model, sums.counts);
  }
  optimizer.clear_gradients();
  options.finished(UpdatePart::optimizer);
  return record;
}

}  // namespace ablate::training
