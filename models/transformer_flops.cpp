#include "models/transformer_flops.h"

#include "models/linear.h"
#include "models/ops/meta_kernels.h"

namespace ablate::models {
namespace {

Transformer shapes_of(const TransformerImpl& model, const TransformerOptions& options) {
  ops::register_meta_kernels();
  const ShapesOnly shapes;
  Transformer same(options, model.vocabulary());
  const auto modules = same->named_modules("", /*include_self=*/false);
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    if (const auto* map = item.value()->as<LinearImpl>(); map && map->is_adapted())
      modules[item.key()]->as<LinearImpl>()->adapt(map->adapter_rank(), /*scale=*/1);
  const auto weights = model.named_parameters();
  for (auto& item : same->named_parameters())
    item.value().set_requires_grad(weights[item.key()].requires_grad());
  return same;
}

TransformerOptions with_all_layers(TransformerOptions o) {
  o.share.fewest.reset();
  return o;
}

double flops_of(const ops::Products& products) {
  return 2 * (products.forward + products.backward);
}

}  // namespace

ShapeModel::ShapeModel(const TransformerImpl& model, const TransformerOptions& options)
    : model_(shapes_of(model, options)) {}

ops::Products ShapeModel::run(const PassExtent& extent, std::optional<int64_t> ahead) {
  const torch::AutoGradMode gradients(true);
  const torch::TensorOptions type = torch::TensorOptions(torch::kLong).device(torch::kMeta);
  const auto source = torch::empty({extent.rows, extent.source}, type);
  const auto target = torch::empty({extent.rows, extent.target}, type);
  const ops::ProductCount count;
  const auto output =
      model_->hidden(source, target, {.training = ahead.has_value(), .ahead = ahead.value_or(0)});
  model_->project(output.hidden);
  for (const auto& further : output.ahead) model_->project(further);
  return count.products();
}

ShapeModel::Cost ShapeModel::cost_of(const PassExtent& extent, std::optional<int64_t> ahead) {
  const auto one = run({.rows = 1, .source = extent.source, .target = extent.target}, ahead);
  if (has_common_ && !*has_common_) return {.once = {}, .row = one};
  const auto two = run({.rows = 2, .source = extent.source, .target = extent.target}, ahead);
  const ops::Products row{two.forward - one.forward, two.backward - one.backward};
  has_common_ = row.forward != one.forward;
  return {.once = {one.forward - row.forward, one.backward - row.backward}, .row = row};
}

ops::Products ShapeModel::products(const PassExtent& extent, std::optional<int64_t> ahead) {
  const std::array<int64_t, 3> lengths{extent.source, extent.target, ahead.value_or(-1)};
  auto found = known_.find(lengths);
  if (found == known_.end()) found = known_.emplace(lengths, cost_of(extent, ahead)).first;
  const auto& [once, row] = found->second;
  const auto rows = static_cast<double>(extent.rows);
  return {once.forward + rows * row.forward, once.backward + rows * row.backward};
}

PassFlops::PassFlops(const TransformerImpl& model)
    : most_(model, with_all_layers(model.options())) {
  if (model.options().share.fewest) fewest_.emplace(model, with_fewest_layers(model.options()));
}

double PassFlops::forward(const PassExtent& extent) {
  return 2 * most_.products(extent, {}).forward;
}

double PassFlops::forward_in_training(const PassExtent& extent) {
  return 2 * most_.products(extent, 0).forward;
}

double PassFlops::training(const PassExtent& extent, int64_t ahead) {
  const double most = flops_of(most_.products(extent, ahead));
  return fewest_ ? (most + flops_of(fewest_->products(extent, ahead))) / 2 : most;
}

}  // namespace ablate::models
