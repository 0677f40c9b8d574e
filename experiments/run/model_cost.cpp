#include "experiments/run/model_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/config/leaf.h"
#include "models/mixture.h"
#include "training/caching_allocator.h"

namespace ablate::run {
namespace {

constexpr int64_t kRows = 8;

int64_t own_parameters(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const auto& parameter : module.parameters(/*recurse=*/false)) count += parameter.numel();
  return count;
}

/// The share of a module's own parameters that one position uses: active / experts of a mixture,
/// all of any other.
double used_share(const torch::nn::Module& module) {
  const auto* mixture = dynamic_cast<const models::Mixture*>(&module);
  if (mixture == nullptr) return 1.0;
  return static_cast<double>(mixture->active()) / static_cast<double>(mixture->experts());
}

double activation_bytes(models::Transformer& model, const models::Vocabulary& vocabulary,
                        int64_t length) {
  const auto source = torch::randint(4, vocabulary.source, {kRows, length});
  const auto target = torch::randint(4, vocabulary.target, {kRows, length});
  auto& allocator = training::CachingAllocator::instance();
  const auto before = allocator.statistics().in_use;
  const auto output = model->hidden(source, target, {.training = true, .dropout = 0.1, .seed = 1});
  const auto after = allocator.statistics().in_use;
  return static_cast<double>(after - before) / static_cast<double>(kRows * length);
}

/// A table of modules, each below its owner.
class ModuleTree {
 public:
  explicit ModuleTree(const models::TransformerImpl& model) : model_(model) {}

  std::string text() && {
    add_below(model_, 1, "");
    for (const auto& item : model_.named_parameters(/*recurse=*/false))
      add_line(1, item.key(), item.value().numel(), c10::str(item.value().sizes()));
    return std::move(text_);
  }

 private:
  void add_line(int depth, const std::string& name, int64_t count, const std::string& note = {}) {
    const auto label = std::string(static_cast<size_t>(2 * depth), ' ') + name;
    text_ += fmt::format("{:<44} {:>14}{}{}\n", label, count, note.empty() ? "" : "  ", note);
  }

  void add_below(const torch::nn::Module& module, int depth, const std::string& path) {
    if (path == ".encoder.layers") return add_layers(module, depth, models::Side::encoder);
    if (path == ".decoder.layers") return add_layers(module, depth, models::Side::decoder);
    for (const auto& child : module.named_children()) {
      const auto count = models::parameter_count(*child.value());
      if (count == 0) continue;
      add_line(depth, child.key(), count);
      add_below(*child.value(), depth + 1, path + "." + child.key());
    }
  }

  /// Every kind of layer once, with the layers that are of it and how they differ from the model's.
  void add_layers(const torch::nn::Module& list, int depth, models::Side side) {
    auto options = model_.options();
    const auto& layers = models::own_layers(options, side);
    const auto modules = list.children();
    std::vector<bool> shown(layers.size());
    for (size_t i = 0; i < layers.size(); ++i) {
      if (shown[i]) continue;
      std::vector<size_t> numbers;
      for (size_t j = i; j < layers.size(); ++j)
        if (layers[j] == layers[i]) {
          numbers.push_back(j + 1);
          shown[j] = true;
        }
      add_line(depth,
               numbers.size() == layers.size()
                   ? "each"
                   : fmt::format("{} {}", numbers.size() == 1 ? "layer" : "layers",
                                 fmt::join(numbers, ", ")),
               models::parameter_count(*modules[i]),
               config::layer_text(layers[i], model_.options().layer()));
      add_below(*modules[i], depth + 1, "");
    }
  }

  const models::TransformerImpl& model_;
  std::string text_;
};

}  // namespace

int64_t active_parameter_count(const models::TransformerImpl& model) {
  double count = 0;
  for (const auto& module : model.modules())
    count += used_share(*module) * static_cast<double>(own_parameters(*module));
  return std::llround(count);
}

models::PassExtent extent_of(const data::Batch& batch) {
  return {.rows = batch.rows, .source = batch.source_length, .target = batch.target_length};
}

ScoringPasses scoring_passes(training::ScoredBatches batches) {
  ScoringPasses passes;
  for (int64_t i = 0; i < batches.count(); ++i) {
    const auto batch = batches.next();
    passes.extents.push_back(extent_of(batch));
    passes.tokens += batch.tokens;
  }
  return passes;
}

double flops_per_token(const models::TransformerImpl& model, const ScoringPasses& passes) {
  double flops = 0;
  for (const auto& extent : passes.extents)
    flops += models::forward_flops(model.options(), model.vocabulary(), extent);
  return flops / static_cast<double>(passes.tokens);
}

ModelCost cost_of(const models::TransformerOptions& options, const models::Vocabulary& vocabulary,
                  int64_t length) {
  torch::manual_seed(1);  // of the ids
  models::Transformer model(options, vocabulary);
  models::initialize(*model, 1);
  return {.parameters = models::parameter_count(*model),
          .active_parameters = active_parameter_count(*model),
          .flops_per_token = models::forward_flops(options, vocabulary, {1, length, length}) /
                             static_cast<double>(length),
          .activation_bytes_per_token = activation_bytes(model, vocabulary, length)};
}

std::string module_tree(const models::TransformerImpl& model) { return ModuleTree(model).text(); }

}  // namespace ablate::run
