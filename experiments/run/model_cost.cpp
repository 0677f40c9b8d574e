#include "experiments/run/model_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/attention.h"
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

/// How often one position meets the parameter `name`: as often as its layer or a shared
/// feed-forward stands in the stack.
int64_t uses_of(const std::string& name, const models::TransformerOptions& options) {
  constexpr std::string_view kLayers = ".layers.";
  const auto at = name.find(kLayers);
  if (at == name.npos) return 1;
  const auto side = name.starts_with("encoder.") ? models::Side::encoder : models::Side::decoder;
  const auto stack = models::stack_of(options, side);
  if (stack.shares_feed_forward() && name.find(".feed_forward.") != name.npos) return stack.layers;
  const auto index = std::stoll(name.substr(at + kLayers.size()));
  int64_t uses = 0;
  for (int64_t depth = 0; depth < stack.layers; ++depth)
    if (stack.layer_at(depth) == index) ++uses;
  return uses;
}

/// Weights of matrix products that one position meets, the projection to the vocabulary included.
/// Tables that are looked up in stand at the root and below `position`.
int64_t multiplied_weights(const models::TransformerOptions& options,
                           const models::TransformerImpl& model) {
  int64_t count = model.output_weight().numel();
  for (const auto& item : model.named_parameters()) {
    const auto& name = item.key();
    const bool table = name.find('.') == std::string::npos || name.find("position.") != name.npos;
    if (table || item.value().dim() < 2 || name.ends_with("bias")) continue;
    count += uses_of(name, options) * std::llround(used_share(name, options, model) *
                                                   static_cast<double>(item.value().numel()));
  }
  return count;
}

/// Multiplications at one position of a mixer that are not with weights.
struct MixerProducts {
  const models::StackOptions& stack;
  int64_t length;

  /// Of a query with `keys` keys and of their probabilities with values.
  int64_t of_query(const models::MultiHead& options, int64_t keys) const {
    const auto heads = models::heads_of(options, stack.d_model);
    return keys * heads.count * (heads.d_k + heads.d_v);
  }
  /// `count` products with the matrix that each head keeps.
  int64_t of_states(const models::MatrixState& options, int64_t count) const {
    return count * stack.d_model * stack.d_model / options.heads;
  }

  int64_t operator()(const models::MultiHead& options) const {
    if (!options.window) return of_query(options, length);
    const int64_t seen = stack.causal ? *options.window : 2 * *options.window - 1;
    return of_query(options, std::min(length, seen));
  }
  // The state is written and read, by the delta rule also read before it is written.
  int64_t operator()(const models::LinearAttention& options) const { return of_states(options, 2); }
  int64_t operator()(const models::DeltaRule& options) const { return of_states(options, 3); }
  int64_t operator()(const auto&) const { return 0; }
};

int64_t mixer_products(const models::StackOptions& stack, int64_t length) {
  const MixerProducts products{stack, length};
  int64_t sum =
      stack.cross_attention ? stack.layers * products.of_query(*stack.cross_attention, length) : 0;
  for (int64_t depth = 0; depth < stack.layers; ++depth)
    sum += std::visit(products, stack.attention_of(stack.layer_at(depth)));
  return sum;
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

double flops_per_token(const models::TransformerOptions& options,
                       const models::TransformerImpl& model, int64_t length) {
  int64_t products = multiplied_weights(options, model);
  if (options.family != models::Family::decoder_only)
    products += mixer_products(stack_of(options, models::Side::encoder), length);
  if (options.family != models::Family::encoder_only)
    products += mixer_products(stack_of(options, models::Side::decoder), length);
  return 2.0 * static_cast<double>(products);
}

ModelCost cost_of(const models::TransformerOptions& options, const models::Vocabulary& vocabulary,
                  int64_t length) {
  torch::manual_seed(1);  // of the ids
  models::Transformer model(options, vocabulary);
  models::initialize(*model, 1);
  return {.parameters = models::parameter_count(*model),
          .active_parameters = active_parameter_count(options, *model),
          .flops_per_token = flops_per_token(options, *model, length),
          .activation_bytes_per_token = activation_bytes(model, vocabulary, length)};
}

std::string module_tree(const torch::nn::Module& model) {
  std::string text;
  add_lines(model, 1, text);
  return text;
}

}  // namespace ablate::run
