#include "training/graphs/pass_graphs.h"

#include <ATen/ops/_foreach_zero.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "models/feed_forward/feed_forward.h"
#include "models/ops/expert_feed_forward.h"
#include "training/cuda_library.h"

namespace ablate::training {
namespace {

/// Null if this build has no part for CUDA. Throws DeviceError if that part cannot be loaded.
MakeGraph* graph_maker() { return reinterpret_cast<MakeGraph*>(cuda_function(kMakeGraph)); }

torch::Tensor copy_of(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.detach().clone() : tensor;
}

/// Takes the gradients out of parameters, and puts copies of them back.
class KeptGradients {
 public:
  explicit KeptGradients(std::vector<torch::Tensor>& parameters) : parameters_(parameters) {
    for (auto& parameter : parameters_) {
      gradients_.push_back(copy_of(parameter.grad()));
      parameter.mutable_grad().reset();
    }
  }
  ~KeptGradients() {
    for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i].mutable_grad() = gradients_[i];
  }
  KeptGradients(const KeptGradients&) = delete;
  KeptGradients& operator=(const KeptGradients&) = delete;

 private:
  std::vector<torch::Tensor>& parameters_;
  std::vector<torch::Tensor> gradients_;
};

/// A copy, since the next replay writes over it.
PassOutput copy_of(const PassOutput& output) {
  PassOutput copy{.loss = copy_of(output.loss), .nll = copy_of(output.nll)};
  for (const auto& of : output.mixtures)
    copy.mixtures.push_back({.aux_loss = copy_of(of.aux_loss),
                             .load = copy_of(of.load),
                             .z = copy_of(of.z),
                             .counts = copy_of(of.counts),
                             .entropy = copy_of(of.entropy),
                             .dropped = copy_of(of.dropped)});
  return copy;
}

}  // namespace

/// One graph and the memory that it reads and writes.
struct PassGraphs::Captured {
  explicit Captured(models::NoiseMemory& memory) : noise(memory) {}

  std::unique_ptr<DeviceGraph> graph;  // null: passes of this size cannot be captured
  models::NoiseTape noise;
  torch::Tensor numbers;  // packed()
  torch::Tensor share;    // []
  PassOutput output;
  int64_t last_use = 0;
};

bool can_capture(const models::TransformerOptions& options, torch::ScalarType compute_type) {
  const auto layer_can = [&](const models::LayerOptions& layer) {
    const auto multiplies = [&]<class Held>(const Held& held) {
      if constexpr (Held::routes)
        return models::ops::multiplies_groups(compute_type, options.d_model, held.d_hidden);
      else
        return true;
    };
    return traits_of(layer.attention).capturable && std::visit(multiplies, layer.feed_forward);
  };
  if (options.share.fewest) return false;  // a graph has one number of rounds
  return std::ranges::all_of(
      std::array{models::Side::encoder, models::Side::decoder}, [&](models::Side side) {
        return !models::has_side(options.family, side) ||
               std::ranges::all_of(models::stack_of(options, side).layers, layer_can);
      });
}

PassGraphs::PassGraphs(models::Transformer model, const LossTerms& loss)
    : model_(std::move(model)),
      loss_(loss),
      parameters_(trained_parameters(*model_)),
      gradients_(parameters_.size()) {}

PassGraphs::~PassGraphs() = default;

std::optional<PassOutput> PassGraphs::run(const data::Batch& batch, double share,
                                          const models::ForwardContext& context) {
  auto& pass = captured(batch, context);
  if (pass.graph == nullptr) return {};
  const torch::NoGradGuard no_grad;
  pass.numbers.copy_(packed(batch, pass.numbers.device()), /*non_blocking=*/true);
  pass.share.fill_(share);
  pass.noise.draw(context.seed);
  place_gradients();
  pass.graph->replay();
  return copy_of(pass.output);
}

PassGraphs::Captured& PassGraphs::captured(const data::Batch& batch,
                                           const models::ForwardContext& context) {
  const Size size{batch.rows, batch.source_length, batch.target_length, context.dropout};
  auto found = graphs_.find(size);
  if (found == graphs_.end()) {
    make_room();
    found = graphs_.emplace(size, capture(batch, context)).first;
  }
  found->second->last_use = ++uses_;
  return *found->second;
}

void PassGraphs::make_room() {
  if (graphs_.size() < kMost) return;
  graphs_.erase(std::ranges::min_element(graphs_, {},
                                         [](const auto& item) { return item.second->last_use; }));
}

std::unique_ptr<PassGraphs::Captured> PassGraphs::capture(const data::Batch& batch,
                                                          const models::ForwardContext& context) {
  const auto weights = model_->output_weight().options().requires_grad(false);
  auto pass = std::make_unique<Captured>(noise_memory_);
  pass->numbers = packed(batch, weights.device()).to(weights.device(), /*non_blocking=*/true);
  pass->share = torch::ones({}, weights);
  const KeptBuffers buffers(*model_);
  const KeptGradients gradients(parameters_);
  const auto work = [&] {
    const models::NoiseTape::Playing playing(pass->noise);
    // Within the graph, so that no replay reads weights of an earlier update.
    const auto casts = cast_weights(*model_, context);
    pass->output = forward_backward(
        *model_, {unpacked(pass->numbers, batch), pass->share, casts.get()}, context, loss_, [] {});
  };
  std::unique_ptr<DeviceGraph> graph(graph_maker()());
  graph->warm_up(work);
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (const auto& gradient = parameters_[i].grad();
        gradient.defined() && !gradients_[i].defined())
      gradients_[i] = torch::empty_like(parameters_[i]);
  place_gradients();
  try {
    graph->capture(work);
    pass->graph = std::move(graph);
  } catch (const std::exception& error) {
    pass->output = {};  // its memory was the recording's
    const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
    why_ = of_torch == nullptr ? error.what() : of_torch->what_without_backtrace();
  }
  return pass;
}

void PassGraphs::place_gradients() {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> empty;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    auto& own = parameters_[i].mutable_grad();
    const auto& placed = gradients_[i];
    if (!placed.defined() || (own.defined() && own.is_same(placed))) continue;
    if (own.defined())
      placed.copy_(own);
    else
      empty.push_back(placed);
    own = placed;
  }
  if (!empty.empty()) at::_foreach_zero_(empty);
}

std::unique_ptr<PassGraphs> make_graphs(const models::Transformer& model,
                                        const TrainingOptions& options, Precision precision) {
  const auto& weights = model->output_weight();
  const auto type = precision == Precision::bf16 ? torch::kBFloat16 : weights.scalar_type();
  bool changes = false;
  options.given_stages([&](const auto& stage) { changes = changes || !stage.capturable; });
  if (options.graphs == Graphs::off || changes || !weights.device().is_cuda() ||
      !can_capture(model->options(), type) || graph_maker() == nullptr)
    return nullptr;
  return std::make_unique<PassGraphs>(model, options.loss());
}

}  // namespace ablate::training
