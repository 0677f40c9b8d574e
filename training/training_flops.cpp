#include "training/training_flops.h"

#include <string>
#include <utility>

#include "models/head_name.h"
#include "models/linear.h"

namespace ablate::training {
namespace {

using models::Side;

constexpr std::array kSides{Side::encoder, Side::decoder};

size_t index_of(Side side) { return side == Side::encoder ? 0 : 1; }

/// Where a model's trained weights are.
struct Trained {
  Trained(const models::TransformerImpl& model, const models::TransformerOptions& options)
      : model_(model), options_(options) {
    for (const auto side : kSides)
      if (models::has_side(model.family(), side))
        lowest[index_of(side)] = models::depth_of(options, side);
    for (const auto& item : model.named_parameters())
      if (item.value().requires_grad()) add(item.key(), item.value());
    // The gradient of the memory comes through all layers of the decoder.
    if (memory && model.family() == models::Family::encoder_decoder)
      lowest[index_of(Side::decoder)] = 0;
  }

  std::array<int64_t, 2> lowest{};  // of each side, the lowest layer with a backward pass
  bool memory = false;              // anything of the encoder
  bool body = false;                // anything below the head
  bool transform = false, output = false;

 private:
  void add(const std::string& name, const torch::Tensor& weight) {
    transform = transform || name.starts_with("transform.");
    output = output || weight.is_same(model_.output_weight());
    for (const auto side : kSides) {
      const auto& table =
          side == Side::encoder ? model_.source_embedding() : model_.target_embedding();
      const bool inside = name.starts_with(text_of(side) + ".");
      if (!models::has_side(model_.family(), side) || (!inside && !weight.is_same(table))) continue;
      body = true;
      memory = memory || side == Side::encoder;
      auto& least = lowest[index_of(side)];
      least = std::min(least, lowest_reader(side, name));
    }
  }

  /// The lowest layer of this side that is, or reads, what the weight acts on: the layer's own, or
  /// the first one for what comes before all layers, or none for the last norm.
  int64_t lowest_reader(Side side, const std::string& name) const {
    const auto stack = models::stack_of(options_, side);
    if (name.starts_with(text_of(side) + ".norm.")) return stack.depth;
    models::LayerName layer;
    if (!models::NameReader(name).layer(layer)) return 0;
    int64_t depth = 0;
    while (stack.layer_at(depth) != layer.layer) ++depth;
    return depth;
  }

  const models::TransformerImpl& model_;
  const models::TransformerOptions& options_;
};

/// How often the layers from depth `first` on multiply by a matrix of a layer.
int64_t runs_of(const models::StackOptions& stack, int64_t layer, bool feed_forward,
                int64_t first) {
  int64_t runs = 0;
  for (int64_t depth = first; depth < stack.depth; ++depth) {
    const int64_t other = stack.layer_at(depth);
    const bool shares =
        feed_forward && models::share_feed_forward(stack.layer(layer), stack.layer(other));
    if (other == layer || shares) ++runs;
  }
  return runs;
}

/// The products of one position with a parameter of a layer: of experts with those that it chooses.
double products_with(const torch::Tensor& weight, const models::LayerOptions& layer) {
  if (weight.dim() < 2) return 0;
  const auto all = static_cast<double>(weight.numel());
  const auto* mixture = std::get_if<models::MixtureOptions>(&layer.feed_forward);
  if (weight.dim() == 2 || mixture == nullptr) return all;
  return all * static_cast<double>(mixture->active) / static_cast<double>(mixture->experts);
}

}  // namespace

TrainingFlops::OfDepth::OfDepth(const models::TransformerImpl& model,
                                models::TransformerOptions options)
    : options_(std::move(options)), vocabulary_(model.vocabulary()) {
  const Trained trained(model, options_);
  lowest_ = trained.lowest;
  head_.output = (trained.body || trained.transform ? 1 : 0) + (trained.output ? 1 : 0);
  head_.transform = (trained.body ? 1 : 0) + (trained.transform ? 1 : 0);
  for (const auto& item : model.named_parameters()) {
    models::LayerName name;
    if (!models::NameReader(item.key()).layer(name)) continue;
    const auto part = item.key().substr(text_of(name).size());
    const auto stack = models::stack_of(options_, name.side);
    const double products =
        products_with(item.value(), stack.layer(name.layer)) *
        static_cast<double>(runs_of(stack, name.layer, part.starts_with(".feed_forward."),
                                    lowest_[index_of(name.side)]));
    const bool of_memory = part.starts_with(".cross_attention.key_value.");
    auto& saved = of_memory || name.side == Side::encoder ? source_ : target_;
    if (models::is_adapter(item.key())) saved -= 3 * products;  // forward_flops() has none
    if (!item.value().requires_grad()) saved += products;
    if (of_memory && !trained.memory) saved += products;  // no gradient of the memory
  }
}

double TrainingFlops::OfDepth::operator()(const models::PassExtent& extent) const {
  const auto rows = static_cast<double>(extent.rows);
  const auto head = models::head_products(options_, vocabulary_, extent);
  double backward = head_.output * head.output + head_.transform * head.transform -
                    rows * (static_cast<double>(extent.source) * source_ +
                            static_cast<double>(extent.target) * target_);
  for (const auto side : kSides)
    if (models::has_side(options_.family, side))
      backward += 2 * models::stack_products(models::stack_of(options_, side), extent,
                                             lowest_[index_of(side)]);
  return models::forward_flops(options_, vocabulary_, extent) + 2 * backward;
}

TrainingFlops::TrainingFlops(const models::TransformerImpl& model)
    : options_(model.options()), vocabulary_(model.vocabulary()), most_(model, model.options()) {
  if (model.options().share.fewest)
    fewest_.emplace(model, models::with_fewest_layers(model.options()));
}

double TrainingFlops::operator()(const models::PassExtent& extent, double ahead) const {
  const double heads =
      ahead == 0 ? 0 : 3 * ahead * models::flops_ahead(options_, vocabulary_, extent);
  return heads + (fewest_ ? (most_(extent) + (*fewest_)(extent)) / 2 : most_(extent));
}

}  // namespace ablate::training
