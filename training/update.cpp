#include "training/update.h"

#include <ATen/ops/_foreach_norm.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "models/feed_forward/feed_forward.h"
#include "models/random.h"
#include "training/clips.h"
#include "training/device.h"
#include "training/process/interrupt.h"
#include "training/schedule.h"

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

models::ForwardContext context_of(const UpdateOptions& options, const models::Observer* observer,
                                  size_t batch) {
  models::ForwardContext context{.training = true,
                                 .dropout = options.dropout,
                                 .seed = models::derive_seed(options.dropout_seed, "batch", batch),
                                 .observer = observer,
                                 .ahead = options.ahead};
  if (options.precision == Precision::bf16) context.compute_dtype = torch::kBFloat16;
  return context;
}

/// While one exists, CUDA may use TF32 if it is `wanted`.
class Tf32Products {
 public:
  explicit Tf32Products(bool wanted) { allow_tf32(wanted); }
  ~Tf32Products() {
    at::globalContext().setAllowTF32CuBLAS(products_);
    at::globalContext().setAllowTF32CuDNN(recurrent_);
  }
  Tf32Products(const Tf32Products&) = delete;
  Tf32Products& operator=(const Tf32Products&) = delete;

 private:
  bool products_ = at::globalContext().allowTF32CuBLAS();
  bool recurrent_ = at::globalContext().allowTF32CuDNN(at::Float32Op::RNN);
};

/// The gradients of an update, added up over its batches.
class Backward {
 public:
  /// `observer` may be null.
  Backward(models::Transformer& model, std::span<const data::Batch> batches,
           const UpdateOptions& options, const models::Observer* observer)
      : model_(model), batches_(batches), options_(options), observer_(observer) {
    for (const auto& batch : batches) tokens_ += batch.tokens;
    TORCH_CHECK(tokens_ > 0, "the batches of an update have no token to predict");
    share_ = 1.0 / static_cast<double>(tokens_);
  }

  /// Leaves the gradient of the loss over this rank's batches in the parameters, with the weight
  /// share() per token.
  Sums run() {
    const Tf32Products products(options_.precision == Precision::tf32);
    const auto part = batches_.size() / static_cast<size_t>(options_.ranks.size());
    const auto first = part * static_cast<size_t>(options_.ranks.rank());
    auto sums = range(first, first + part);
    casts_.reset();  // the weights are about to change
    return sums;
  }
  int64_t tokens() const { return tokens_; }  // target tokens of all batches
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
    for (auto& parameter : parameters) {
      gradients.push_back(std::exchange(parameter.mutable_grad(), {}));
      // The next pass of a graph writes to the same memory.
      auto& gradient = gradients.back();
      if (options_.graphs != nullptr && gradient.defined()) gradient = gradient.clone();
    }
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
    auto output = pass(batches_[i], context_of(options_, observer_, i));
    options_.finished(UpdatePart::backward);
    Sums sums{output.loss, output.nll};
    for (const auto& mixture : output.mixtures) sums.counts.push_back(mixture.counts);
    if (mixtures_.empty()) mixtures_ = std::move(output.mixtures);
    return sums;
  }

  PassOutput pass(const data::Batch& batch, const models::ForwardContext& context) {
    const auto forward_done = [&] { options_.finished(UpdatePart::forward); };
    if (options_.graphs != nullptr)
      if (auto output = options_.graphs->run(batch, share_, context)) {
        options_.finished(UpdatePart::data);
        forward_done();
        return std::move(*output);
      }
    const auto weights = model_->output_weight().options().requires_grad(false);
    const auto tensors = to_tensors(batch, weights.device());
    options_.finished(UpdatePart::data);
    if (casts_ == nullptr) casts_ = cast_weights(*model_, context);
    return forward_backward(*model_, {tensors, torch::full({}, share_, weights), casts_.get()},
                            context, options_.loss, forward_done);
  }

  models::Transformer& model_;
  std::span<const data::Batch> batches_;
  const UpdateOptions& options_;
  const models::Observer* observer_;
  int64_t tokens_ = 0;
  double share_ = 0;
  std::unique_ptr<models::ops::WeightCasts> casts_;  // for all batches
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

bool has_trained_router(const models::Mixture& mixture) {
  const auto parameters = mixture.named_parameters();
  const auto* weight = parameters.find("router.weight");
  return weight != nullptr && weight->requires_grad();
}

/// Those of frozen routers stay.
void update_selection_biases(const models::TransformerImpl& model,
                             const std::vector<torch::Tensor>& counts) {
  if (counts.empty()) return;
  size_t next = 0;
  for (const auto& module : model.modules())
    if (const auto mixture = std::dynamic_pointer_cast<models::Mixture>(module)) {
      const auto& of_experts = counts.at(next++);
      if (has_trained_router(*mixture)) mixture->update_selection_bias(of_experts);
    }
}

torch::Tensor norm_of(const std::vector<torch::Tensor>& gradients) {
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
}

/// Lets the optimizer learn the curvature from the gradient of all batches with targets that the
/// model draws. A gradient that is not finite is left out.
void learn_curvature(models::Transformer& model, Optimizer& optimizer,
                     std::span<const data::Batch> batches, const UpdateOptions& options) {
  const KeptBuffers kept(*model);
  auto drawn = options;
  drawn.loss = {.ahead = options.loss.ahead, .drawn = true};
  drawn.graphs = nullptr;  // which have captured the loss of the batches' own targets
  Backward backward(model, batches, drawn, nullptr);
  auto sums = backward.run();
  add_over_ranks(options.ranks, *model, sums);
  if (std::isfinite(norm_of(optimizer.gradients()).item<double>()))
    optimizer.learn_curvature(backward.tokens());
  optimizer.clear_gradients();
}

}  // namespace

UpdateOptions update_options(const TrainingOptions& options,
                             const models::TransformerOptions& model, int64_t step,
                             const RankGroup& ranks) {
  return {.learning_rate = learning_rate(options.schedule, step, options.steps),
          .loss = options.loss(),
          .clips = options.clips,
          .dropout = model.dropout,
          .dropout_seed = 0,
          .precision = options.precision,
          .ahead = heads_at(options, {step, options.steps}, models::heads_ahead(model)),
          .curvature = passes_at(options, step) > 1,
          .ranks = ranks};
}

StepRecord update(models::Transformer& model, Optimizer& optimizer,
                  std::span<const data::Batch> batches, const UpdateOptions& options) {
  StepRecord record;
  for (const auto& batch : batches) record.tokens += batch.tokens;
  if (options.curvature) learn_curvature(model, optimizer, batches, options);
  Clips clips(options.clips);
  KeptBuffers before(*model);  // running moments do not follow an update that is left out
  Backward backward(model, batches, options, clips.observer());
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
    before.release();
    clips.before_step(gradients, record.gradient_norm);
    optimizer.step(options.learning_rate);
    clips.after_step();
    update_selection_biases(*model, sums.counts);
  }
  optimizer.clear_gradients();
  options.finished(UpdatePart::optimizer);
  return record;
}

double gradient_norm(models::Transformer& model, const data::Batch& batch,
                     const UpdateOptions& options) {
  const KeptBuffers kept(*model);
  Backward(model, {&batch, 1}, options, nullptr).run();
  std::vector<torch::Tensor> gradients;
  for (auto& parameter : trained_parameters(*model))
    if (auto& gradient = parameter.mutable_grad(); gradient.defined())
      gradients.push_back(std::exchange(gradient, {}));
  return norm_of(gradients).item<double>();
}

models::PassExtent extent_of(const data::Batch& batch) {
  return {.rows = batch.rows, .source = batch.source_length, .target = batch.target_length};
}

}  // namespace ablate::training
