#include "experiments/exchange/huggingface/disassembly.h"

#include "experiments/exchange/assembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/layouts.h"
#include "experiments/exchange/huggingface/marian_form.h"
#include "experiments/exchange/huggingface/one_form.h"

namespace ablate::exchange {
namespace {

constexpr const char* kTypes = "token_type_embedding";

/// Rows of the parts that stand one after the other in one of our tensors.
std::vector<int64_t> part_sizes(const std::string& name, const torch::Tensor& x, size_t parts,
                                const models::TransformerOptions& options) {
  const auto* heads = std::get_if<models::MultiHead>(&options.layer.attention);
  const bool attends = name.find("attention.") != std::string::npos;
  if (parts == 1 || heads == nullptr || !attends)
    return std::vector(parts, x.size(0) / static_cast<int64_t>(parts));
  const auto width = options.d_model / heads->heads;
  const auto groups = heads->key_value_heads.value_or(heads->heads);
  std::vector<int64_t> sizes{heads->heads * heads->d_k.value_or(width),
                             groups * heads->d_k.value_or(width),
                             groups * heads->d_v.value_or(width)};
  sizes.erase(sizes.begin(), sizes.end() - static_cast<ptrdiff_t>(parts));
  return sizes;
}

torch::Tensor foreign_form(torch::Tensor x, const Origin& origin, int64_t heads) {
  if (origin.by_head) x = x.unflatten(0, {3, heads, -1}).transpose(0, 1).flatten(0, 2);
  if (origin.skip > 0) x = torch::cat({torch::zeros_like(x.slice(0, 0, origin.skip)), x});
  return (origin.transpose ? x.t() : x).contiguous();
}

/// Foreign tensors made of ours, as Assembly makes ours of them: the vocabulary stays in our order,
/// rows that are skipped and added are zeros. REQUIRES: a map with a line for every weight.
training::Tensors disassembled(const training::Weights& weights, const Origins& origins,
                               const models::TransformerOptions& options) {
  training::Tensors tensors;
  for (const auto& [name, tensor] : weights) {
    const auto& origin = origins.at(name);
    const auto* dense = std::get_if<models::DenseFeedForward>(&options.layer.feed_forward);
    // A feed-forward without gates is one tensor in place of several.
    const bool other = !origin.alternative.empty() && origin.names.size() > 1 &&
                       (dense == nullptr || !dense->gated);
    const auto& names = other ? origin.alternative : origin.names;
    const auto x = foreign_form(tensor, origin, models::head_count(options.layer.attention));
    const auto parts = x.split_with_sizes(part_sizes(name, x, names.size(), options));
    for (size_t i = 0; i < names.size(); ++i)
      tensors[names[i]] = origin.unsqueeze ? parts[i].unsqueeze(0).clone() : parts[i].clone();
    // Versions of Transformers differ in which of the two names they read then.
    if (!origin.untied.empty() && !ties_output(options.tying))
      tensors[origin.untied] = tensors.at(names.front()).clone();
  }
  return in_their_layout(tensors, options);
}

/// The same weights of a model whose residual stream has its even channels before its odd ones, so
/// that sines and cosines that alternate become halves. Outputs stay as they are, since nothing
/// else depends on the order of channels.
training::Weights with_separate_sines(const training::Weights& weights) {
  const auto reads = [](const std::string& name) {  // the residual stream
    for (const auto* end :
         {"embedding", "qkv.weight", "query.weight", "key_value.weight", "up.weight", "output"})
      if (name.ends_with(end)) return true;
    return false;
  };
  const auto writes = [](const std::string& name) {  // it, or norms it
    for (const auto* end :
         {"out.weight", "out.bias", "down.weight", "down.bias", "norm.weight", "norm.bias"})
      if (name.ends_with(end)) return true;
    return false;
  };
  training::Weights changed = weights;
  for (auto& [name, tensor] : changed) {
    const int64_t place = reads(name) ? tensor.dim() - 1 : 0;
    if (!reads(name) && !writes(name)) continue;
    const auto channels = torch::arange(tensor.size(place));
    tensor = tensor.index_select(
        place, torch::cat({channels.slice(0, 0, {}, 2), channels.slice(0, 1, {}, 2)}));
  }
  return changed;
}

}  // namespace

training::Tensors hub_tensors(training::Weights weights, models::TransformerOptions options,
                              const WrittenFamily& form, const std::vector<int32_t>& order) {
  if (form.separates_sines) weights = with_separate_sines(weights);
  const auto& map = family_map(form.family);
  const auto origins = expanded(map.tensors, most_layers(options));
  for (const auto& [name, origin] : origins)
    if (origin.always && !weights.contains(name))
      weights[name] = torch::zeros({weights.at("embedding").size(0)});
  if (origins.contains(kTypes) && !weights.contains(kTypes))
    weights[kTypes] = torch::zeros({kBertTypes, options.d_model});
  const auto rows = torch::tensor(order, torch::kLong);
  for (auto& [name, tensor] : weights)
    if (origins.at(name).vocabulary) tensor = tensor.index_select(0, rows);
  auto tensors = disassembled(weights, origins, options);
  if (map.starts_from_zeros) {
    std::get<models::Sinusoidal>(options.layer.position).layout = models::SinusoidalLayout::halves;
    start_from_zero(tensors, options, form.config.at("max_position_embeddings").get<int64_t>());
  }
  return tensors;
}

}  // namespace ablate::exchange
