#include "training/update.h"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "models/feed_forward.h"
#include "models/ops/linear_cross_entropy.h"
#include "models/random.h"
#include "models/transformer.h"
#include "tokenizer/special_tokens.h"
#include "training/process/interrupt.h"

namespace ablate::training {
namespace {

/// Sums over the forward passes of some batches.
struct Sums {
  torch::Tensor loss, nll;            // over target tokens, in nats
  std::vector<torch::Tensor> counts;  // of every mixture, positions sent to each expert // [E]
};

Sums operator+(const Sums& left, const Sums& right) {
  Sums sums{left.loss + right.loss, left.nll + right.nll};
  for (size_t i = 0; i < left.counts.size(); ++i)
    sums.counts.push_back(left.counts[i] + right.counts[i]);
  return sums;
}

models::ForwardContext context_of(const UpdateOptions& options, size_t batch) {
  models::ForwardContext context{.training = true,
                                 .dropout = options.dropout,
                                 .seed = models::derive_seed(options.dropout_seed, "batch", batch)};
  if (options.precision == Precision::bf16) context.compute_dtype = torch::kBFloat16;
  return context;
}

/// While one exists and is `wanted`, CUDA multiplies float matrices in TF32, with a fraction of 10
/// bits.
class Tf32Products {
 public:
  explicit Tf32Products(bool wanted) { at::globalContext().setAllowTF32CuBLAS(wanted); }
  ~Tf32Products() { at::globalContext().setAllowTF32CuBLAS(before_); }
  Tf32Products(const Tf32Products&) = delete;
  Tf32Products& operator=(const Tf32Products&) = delete;

 private:
  bool before_ = at::globalContext().allowTF32CuBLAS();
};

std::vector<torch::Tensor> trained_parameters(const models::TransformerImpl& model) {
  auto parameters = model.parameters();
  std::erase_if(parameters, [](const auto& parameter) { return !parameter.requires_grad(); });
  return parameters;
}

/// The gradients of an update, added up over its batches.
class Backward {
 public:
  Backward(models::Transformer& model, std::span<const data::Batch> batches,
           const UpdateOptions& options)
      : model_(model), batches_(batches), options_(options) {
    int64_t tokens = 0;
    for (const auto& batch : batches) tokens += batch.tokens;
    share_ = 1.0 / static_cast<double>(tokens);
  }

  /// Leaves the gradient of the loss over this rank's batches in the parameters, with the weight
  /// share() per token.
  Sums run() {
    const Tf32Products products(options_.precision == Precision::tf32);
    const auto part = batches_.size() / static_cast<size_t>(options_.ranks.size());
    const auto first = part * static_cast<size_t>(options_.ranks.rank());
    return range(first, first + part);
  }
  double share() const { return share_; }
  /// The statistics of this rank's first batch.
  const std::vector<models::RoutingStatistics>& mixtures() const { return mixtures_; }

 private:
  /// The batches from `from` up to `to`, each half of them summed separately.
  Sums range(size_t from, size_t to) {
    if (to - from == 1) return one(from);
    const auto middle = std::midpoint(from, to);
    const auto left = range(from, middle);
    if (to - from == 2) return left + range(middle, to);  // autograd adds the second to the first
    auto parameters = trained_parameters(*model_);
    std::vector<torch::Tensor> gradients;
    for (auto& parameter : parameters)
      gradients.push_back(std::exchange(parameter.mutable_grad(), {}));
    const auto right = range(middle, to);
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters.size(); ++i) {
      auto& gradient = parameters[i].mutable_grad();
      if (gradient.defined() && gradients[i].defined()) gradient.add_(gradients[i]);
      if (!gradient.defined()) gradient = gradients[i];
    }
    return left + right;
  }

  Sums one(size_t i) {
    const auto& batch = batches_[i];
    const auto tensors = to_tensors(batch, model_->output_weight().device());
    options_.finished(UpdatePart::data);
    const auto output = model_->hidden(tensors.source, tensors.target_in, context_of(options_, i));
    std::vector<models::RoutingStatistics> mixtures;
    for (const auto& routing : output.routings) mixtures.push_back(models::statistics_of(routing));
    const auto losses = models::ops::linear_cross_entropy(
        output.hidden, model_->output(), tensors.target_out,
        {.ignored = models::ignored_target(model_->labels(), tokenizer::kPad),
         .smoothing = options_.label_smoothing});
    options_.finished(UpdatePart::forward);
    auto objective = losses.loss;
    if (const auto aux_loss = models::aux_loss(mixtures); aux_loss.defined())
      objective = objective + aux_loss * static_cast<double>(batch.tokens);
    objective.backward(torch::full({}, share_, objective.options()));
    options_.finished(UpdatePart::backward);
    Sums sums{losses.loss.detach(), losses.nll};
    for (const auto& mixture : mixtures) sums.counts.push_back(mixture.counts);
    if (mixtures_.empty()) mixtures_ = std::move(mixtures);
    return sums;
  }

  models::Transformer& model_;
  std::span<const data::Batch> batches_;
  const UpdateOptions& options_;
  double share_ = 0;
  std::vector<models::RoutingStatistics> mixtures_;
};

/// Adds gradients and sums over all ranks. Returns whether any rank was asked to stop. A parameter
/// that has a gradient on no rank keeps none.
bool add_over_ranks(const RankGroup& ranks, const models::TransformerImpl& model, Sums& sums) {
  if (ranks.size() == 1) return stop_requested();
  auto parameters = trained_parameters(model);
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parts;
  std::vector<float> flags{stop_requested() ? 1.0F : 0.0F};
  for (const auto& parameter : parameters) {
    const auto& gradient = parameter.grad();
    flags.push_back(gradient.defined() ? 1.0F : 0.0F);
    parts.push_back(gradient.defined() ? gradient : torch::zeros_like(parameter));
  }
  parts.insert(parts.end(), {sums.loss, sums.nll});
  parts.insert(parts.end(), sums.counts.begin(), sums.counts.end());
  parts.push_back(torch::tensor(flags));
  std::vector<torch::Tensor> flat;
  const auto like = sums.loss.options().dtype(torch::kFloat);
  for (const auto& part : parts) flat.push_back(part.flatten().to(like));
  const auto total = ranks.sum(torch::cat(flat));
  int64_t offset = 0;
  for (auto& part : parts) {
    part = total.narrow(0, offset, part.numel()).view(part.sizes()).to(part.options());
    offset += part.numel();
  }
  const auto seen = parts.back();
  for (size_t i = 0; i < parameters.size(); ++i)
    if (seen[static_cast<int64_t>(i) + 1].item<float>() > 0)
      parameters[i].mutable_grad() = parts[i];
  sums.loss = parts[parameters.size()];
  sums.nll = parts[parameters.size() + 1];
  std::copy_n(parts.begin() + std::ssize(parameters) + 2, sums.counts.size(), sums.counts.begin());
  return seen[0].item<float>() > 0;
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

/// Restores a model's buffers, such as running means.
class KeptBuffers {
 public:
  explicit KeptBuffers(const models::TransformerImpl& model) : buffers_(model.buffers()) {
    for (const auto& buffer : buffers_) values_.push_back(buffer.clone());
  }
  ~KeptBuffers() {
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(values_[i]);
  }
  KeptBuffers(const KeptBuffers&) = delete;
  KeptBuffers& operator=(const KeptBuffers&) = delete;

 private:
  std::vector<torch::Tensor> buffers_, values_;
};

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
  Backward backward(model, batches, options);
  auto sums = backward.run();
  record.stop = add_over_ranks(options.ranks, *model, sums);
  const auto gradients = optimizer.gradients();
  const auto read = torch::stack({sums.loss, sums.nll, norm_of(gradients)}).cpu();
  record.loss = read[0].item<double>() * backward.share();
  record.nll = read[1].item<double>() * backward.share();
  record.gradient_norm = read[2].item<double>();
  if (options.mixtures) record.mixtures = mixture_records(*model, backward.mixtures());
  record.skipped = !std::isfinite(record.loss) || !std::isfinite(record.gradient_norm);
  if (!record.skipped) {
    if (options.max_grad_norm > 0 && record.gradient_norm > options.max_grad_norm) {
      torch::NoGradGuard no_grad;
      at::_foreach_mul_(gradients, options.max_grad_norm / (record.gradient_norm + 1e-6));
    }
    optimizer.step(options.learning_rate);
    update_selection_biases(*model, sums.counts);
  }
  optimizer.clear_gradients();
  options.finished(UpdatePart::optimizer);
  return record;
}

double gradient_norm(models::Transformer& model, const data::Batch& batch,
                     const UpdateOptions& options) {
  const KeptBuffers kept(*model);
  Backward(model, {&batch, 1}, options).run();
  std::vector<torch::Tensor> gradients;
  for (auto& parameter : trained_parameters(*model))
    if (auto& gradient = parameter.mutable_grad(); gradient.defined())
      gradients.push_back(std::exchange(gradient, {}));
  return norm_of(gradients).item<double>();
}

models::PassExtent extent_of(const data::Batch& batch) {
  return {.rows = batch.rows, .source = batch.source_length, .target = batch.target_length};
}

double training_flops(const models::TransformerImpl& model, std::span<const data::Batch> batches) {
  double flops = 0;
  for (const auto& batch : batches)
    flops += 3 * models::forward_flops(model.options(), model.vocabulary(), extent_of(batch));
  return flops;
}

}  // namespace ablate::training
