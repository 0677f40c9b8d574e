#include "training/update.h"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>

#include <cmath>

#include "tokenizer/special_ids.h"
#include "training/seed.h"

namespace ablate::training {
namespace {

torch::Tensor ids(const std::vector<int64_t>& values, int64_t rows, int64_t length,
                  torch::Device device) {
  auto copy = torch::empty({rows, length}, torch::kLong);
  std::copy(values.begin(), values.end(), copy.mutable_data_ptr<int64_t>());
  return copy.to(device);
}

torch::Tensor norm_of(const std::vector<torch::Tensor>& gradients) {
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
}

}  // namespace

BatchTensors to_tensors(const data::Batch& batch, torch::Device device) {
  return {ids(batch.source, batch.rows, batch.source_length, device),
          ids(batch.target_in, batch.rows, batch.target_length, device),
          ids(batch.target_out, batch.rows, batch.target_length, device)};
}

StepRecord update(models::Transformer& model, Optimizer& optimizer,
                  std::span<const data::Batch> batches, const UpdateOptions& options) {
  StepRecord record;
  for (const auto& batch : batches) record.tokens += batch.tokens;
  const double share = 1.0 / static_cast<double>(record.tokens);
  const PrecisionGuard precision(model, options.bfloat16);
  const auto device = model->output_weight().device();
  torch::Tensor sum, negative;
  for (size_t i = 0; i < batches.size(); ++i) {
    const auto tensors = to_tensors(batches[i], device);
    const uint64_t seed = derive_seed(options.dropout_seed, "batch", i);
    if (!device.is_cpu()) torch::manual_seed(seed);  // ATen's dropout draws from this generator
    models::Dropout dropout(options.dropout, seed);
    const auto hidden = model->hidden(tensors.source, tensors.target_in, dropout);
    const auto loss = cross_entropy(hidden, model->output_weight(), tensors.target_out,
                                    {.pad = tokenizer::kPad, .smoothing = options.label_smoothing});
    (loss.sum * share).backward();
    sum = sum.defined() ? sum + loss.sum.detach() : loss.sum.detach();
    negative = negative.defined() ? negative + loss.negative : loss.negative;
  }
  const auto gradients = optimizer.gradients();
  const auto norm = norm_of(gradients);
  const auto read =
      torch::stack({sum.to(torch::kDouble), negative.to(torch::kDouble), norm.to(torch::kDouble)})
          .cpu();
  record.loss = read[0].item<double>() * share;
  record.negative = read[1].item<double>() * share;
  record.gradient_norm = read[2].item<double>();
  record.skipped = !std::isfinite(record.loss) || !std::isfinite(record.gradient_norm);
  if (!record.skipped) {
    if (options.clip > 0 && record.gradient_norm > options.clip) {
      torch::NoGradGuard no_grad;
      at::_foreach_mul_(gradients, options.clip / (record.gradient_norm + 1e-6));
    }
    optimizer.step(options.learning_rate);
  }
  optimizer.clear_gradients();
  return record;
}

}  // namespace ablate::training
