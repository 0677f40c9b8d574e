#include "training/weights.h"

#include <ATen/ops/_foreach_lerp.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/linear.h"
#include "training/trained_parts.h"

namespace ablate::training {

Weights weights_of(const torch::nn::Module& model) {
  Weights weights;
  for (const auto& item : model.named_parameters()) weights[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) weights[item.key()] = item.value();
  return weights;
}

void load_tensors(const Tensors& own, const Tensors& saved, std::string_view kind) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : saved)
    TORCH_CHECK(own.contains(name), "the model has no ", kind, " '", name, "'");
  for (const auto& [name, tensor] : own) {
    const auto found = saved.find(name);
    TORCH_CHECK(found != saved.end(), "the checkpoint lacks the ", kind, " '", name, "'");
    TORCH_CHECK(found->second.sizes() == tensor.sizes(), "the ", kind, " '", name, "' is ",
                found->second.sizes(), " in the checkpoint and ", tensor.sizes(), " in the model");
    tensor.copy_(found->second);
  }
}

void load_weights(const torch::nn::Module& model, const Weights& weights) {
  load_tensors(weights_of(model), weights, "weight");
}

BorrowedWeights::BorrowedWeights(const torch::nn::Module& model, Weights weights) {
  if (weights.empty()) return;
  places_ = weights_of(model);
  for (const auto& [name, tensor] : places_) {
    own_[name] = tensor.detach().clone();
    if (models::is_adapter(name)) weights.emplace(name, torch::zeros_like(tensor));
  }
  load_tensors(places_, weights, "weight");
}

BorrowedWeights::~BorrowedWeights() { load_tensors(places_, own_, "weight"); }

std::optional<std::string> not_finite(const Weights& weights) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : weights) {
    if (!tensor.is_floating_point()) continue;
    const auto finite = tensor.isfinite().sum().item<int64_t>();
    if (finite == tensor.numel()) continue;
    const auto faults = tensor.numel() - finite;
    return fmt::format("the weight '{}' holds {} number{} of {} that {} not finite", name, faults,
                       faults == 1 ? "" : "s", tensor.numel(), faults == 1 ? "is" : "are");
  }
  return {};
}

void require_finite(const Weights& weights, const std::string& source) {
  if (const auto fault = not_finite(weights)) throw CheckpointError(source + ": " + *fault);
}

Weights average(std::span<const Weights> models) {
  torch::NoGradGuard no_grad;
  Weights mean;
  for (const auto& [name, first] : models.front()) {
    auto sum = torch::zeros_like(first, torch::kDouble);
    for (const auto& weights : models) sum += weights.at(name);
    mean[name] = (sum / static_cast<double>(models.size())).to(first.scalar_type());
  }
  return mean;
}

namespace {

/// A side of a model with equal layers, and the numbers of the layers that it keeps.
struct KeptLayers {
  std::string side;  // "encoder"
  std::vector<int64_t> numbers;
  bool shares_feed_forward, positions_by_layer;

  /// The name of a parameter among the layers that are left; empty if its layer is dropped.
  std::string renamed(const std::string& name) const {
    const auto prefix = side + ".layers.";
    if (!name.starts_with(prefix)) return name;
    const auto dot = name.find('.', prefix.size());
    const auto number = std::stoll(name.substr(prefix.size(), dot - prefix.size()));
    // A shared feed-forward belongs to the first layer that is left.
    if (shares_feed_forward && name.starts_with(prefix + "0.feed_forward.")) return name;
    const auto found = std::ranges::find(numbers, number);
    return found == numbers.end()
               ? std::string()
               : prefix + std::to_string(found - numbers.begin()) + name.substr(dot);
  }

  torch::Tensor rows_of(const std::string& name, const torch::Tensor& tensor) const {
    if (!positions_by_layer || !name.starts_with(side + ".position.")) return tensor;
    return tensor.index_select(0, torch::tensor(numbers, tensor.device()));
  }
};

KeptLayers kept_layers(const models::TransformerOptions& options, models::Side side,
                       std::span<const models::LayerName> left_out) {
  const auto stack = models::stack_of(options, side);
  KeptLayers kept{.side = text_of(side),
                  .numbers = {},
                  .shares_feed_forward = models::shared_feed_forward(stack.layer(0)) != nullptr,
                  .positions_by_layer = traits_of(stack.layer(0).position).by_layer};
  for (int64_t layer = 0; layer < stack.depth; ++layer)
    if (std::ranges::find(left_out, models::LayerName{side, layer}) == left_out.end())
      kept.numbers.push_back(layer);
  return kept;
}

}  // namespace

Weights drop_heads(Weights weights, const models::TransformerOptions& options,
                   std::span<const models::HeadName> heads) {
  const torch::NoGradGuard no_grad;
  for (const auto& [attention, head] : heads) {
    auto& projection = weights.at(text_of(attention) + ".out.weight");  // [D, HW]
    projection = projection.detach().clone();
    const auto width = projection.size(1) / models::head_count(options, attention);
    projection.narrow(1, head * width, width).zero_();
  }
  return weights;
}

Weights drop_layers(const Weights& weights, const models::TransformerOptions& options,
                    std::span<const models::LayerName> layers) {
  const torch::NoGradGuard no_grad;
  auto left = weights;
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    if (std::ranges::find(layers, side, &models::LayerName::side) == layers.end()) continue;
    const auto kept = kept_layers(options, side, layers);
    Weights named;
    for (const auto& [name, tensor] : left)
      if (const auto now = kept.renamed(name); !now.empty())
        named[now] = kept.rows_of(name, tensor);
    left = std::move(named);
  }
  return left;
}

Weights drop_parts(const Weights& weights, const models::TransformerOptions& options,
                   const DropOptions& parts) {
  std::vector<models::HeadName> heads;
  for (const auto& text : parts.heads) heads.push_back(models::parse_head(text).value());
  std::vector<models::LayerName> layers;
  for (const auto& text : parts.layers) layers.push_back(models::parse_layer(text).value());
  return drop_layers(drop_heads(weights, options, heads), options, layers);
}

namespace {

constexpr std::string_view kEmaPrefix = "ema.";

}  // namespace

Ema::Ema(const torch::nn::Module& model, double decay, LoraOptions lora)
    : followed_(weights_of(model)), lora_(std::move(lora)), decay_(decay) {
  for (const auto& [name, tensor] : merge_adapters(followed_, lora_))
    averages_[name] = tensor.detach().clone();
}

void Ema::update() {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> averages, weights;
  for (const auto& [name, tensor] : merge_adapters(followed_, lora_)) {
    const auto& average = averages_.at(name);
    if (!tensor.is_floating_point()) {
      average.copy_(tensor);
      continue;
    }
    averages.push_back(average);
    weights.push_back(tensor);
  }
  at::_foreach_lerp_(averages, weights, 1 - decay_);
}

void Ema::save_to(Tensors& optimizer) const {
  for (const auto& [name, average] : averages_) optimizer[std::string(kEmaPrefix) + name] = average;
}

void Ema::load(const Weights& saved) { load_tensors(averages_, saved, "average"); }

Weights extract_ema(Tensors& optimizer) {
  Weights averages;
  for (auto at = optimizer.begin(); at != optimizer.end();) {
    if (!at->first.starts_with(kEmaPrefix)) {
      ++at;
      continue;
    }
    averages[at->first.substr(kEmaPrefix.size())] = at->second;
    at = optimizer.erase(at);
  }
  return averages;
}

}  // namespace ablate::training
