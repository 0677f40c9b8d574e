#include "experiments/run/model_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

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

/// The share of the parameter `name` that one position uses: active / experts of what the experts
/// of a mixture own, all of any other.
double used_share(const std::string& name, const models::TransformerOptions& options,
                  const models::TransformerImpl& model) {
  const size_t last = name.rfind('.');
  if (last == std::string::npos) return 1.0;
  const auto side = name.starts_with("encoder.") ? models::Side::encoder : models::Side::decoder;
  const auto feed_forward = models::stack_of(options, side).feed_forward;
  const auto* mixture = std::get_if<models::MixtureOptions>(&feed_forward);
  const auto modules = model.named_modules();
  const auto* owner = modules.find(name.substr(0, last));
  if (mixture == nullptr || owner == nullptr ||
      std::dynamic_pointer_cast<models::Mixture>(*owner) == nullptr)
    return 1.0;
  return static_cast<double>(mixture->active) / static_cast<double>(mixture->experts);
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

void add_lines(const torch::nn::Module& module, int depth, std::string& text) {
  std::set<std::string> shown;  // of numbered modules, each kind once
  for (const auto& child : module.named_children()) {
    if (models::parameter_count(*child.value()) == 0) continue;
    std::string below;
    add_lines(*child.value(), depth + 1, below);
    const auto line = fmt::format("{}", models::parameter_count(*child.value()));
    const bool numbered = std::isdigit(static_cast<unsigned char>(child.key().front())) != 0;
    if (numbered && !shown.insert(line + below).second) continue;
    const auto name = numbered ? "each" : child.key();
    text += fmt::format("{:<44} {:>14}\n", std::string(static_cast<size_t>(2 * depth), ' ') + name,
                        line);
    text += below;
  }
  if (const auto own = own_parameters(module); own > 0 && depth <= 1)
    for (const auto& item : module.named_parameters(/*recurse=*/false))
      text += fmt::format("{:<44} {:>14}  {}\n",
                          std::string(static_cast<size_t>(2 * depth), ' ') + item.key(),
                          item.value().numel(), c10::str(item.value().sizes()));
}

}  // namespace

int64_t active_parameter_count(const models::TransformerOptions& options,
                               const models::TransformerImpl& model) {
  double count = 0;
  for (const auto& item : model.named_parameters())
    count += used_share(item.key(), options, model) * static_cast<double>(item.value().numel());
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
          .active_parameters = active_parameter_count(options, *model),
          .flops_per_token = models::forward_flops(options, vocabulary, {1, length, length}) /
                             static_cast<double>(length),
          .activation_bytes_per_token = activation_bytes(model, vocabulary, length)};
}

std::string module_tree(const torch::nn::Module& model) {
  std::string text;
  add_lines(model, 1, text);
  return text;
}

}  // namespace ablate::run
