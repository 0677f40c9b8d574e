#include "training/without.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ablate::training {
namespace {

/// A side of a model, whose layers are alike, and the layers that it keeps, by their numbers.
struct KeptLayers {
  std::string side;  // "encoder"
  std::vector<int64_t> numbers;
  bool shares_feed_forward, positions_by_layer;

  /// What a parameter is called among the layers that are left; empty where its layer is not.
  std::string renamed(const std::string& name) const {
    const auto prefix = side + ".layers.";
    if (!name.starts_with(prefix)) return name;
    const auto dot = name.find('.', prefix.size());
    const auto number = std::stoll(name.substr(prefix.size(), dot - prefix.size()));
    // The feed-forward that layers share stands in the first one, whichever that is.
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
  KeptLayers kept{
      .side = text_of(side),
      .numbers = {},
      .shares_feed_forward = models::shared_feed_forward(stack.layer(0)) != nullptr,
      .positions_by_layer = std::visit([]<class Held>(const Held&) { return Held::by_layer; },
                                       stack.layer(0).position)};
  for (int64_t layer = 0; layer < stack.depth; ++layer)
    if (std::ranges::find(left_out, models::LayerName{side, layer}) == left_out.end())
      kept.numbers.push_back(layer);
  return kept;
}

}  // namespace

Weights without_heads(Weights weights, const models::TransformerOptions& options,
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

Weights without_layers(const Weights& weights, const models::TransformerOptions& options,
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

Weights without(const Weights& weights, const models::TransformerOptions& options,
                const WithoutOptions& parts) {
  std::vector<models::HeadName> heads;
  for (const auto& text : parts.heads) heads.push_back(models::parse_head(text).value());
  std::vector<models::LayerName> layers;
  for (const auto& text : parts.layers) layers.push_back(models::parse_layer(text).value());
  return without_layers(without_heads(weights, options, heads), options, layers);
}

}  // namespace ablate::training
