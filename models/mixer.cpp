#include "models/mixer.h"

namespace ablate::models {

torch::Tensor without_padding(const torch::Tensor& x, const torch::Tensor& padding_mask) {
  return padding_mask.defined() ? x.masked_fill(padding_mask.logical_not().unsqueeze(-1), 0.0) : x;
}

torch::Tensor observed_heads(const torch::Tensor& values, int64_t heads, const Observer* observer) {
  if (observer == nullptr || !observer->heads) return values;
  return observer->heads(values.unflatten(-1, {heads, -1})).flatten(-2);
}

torch::Tensor ScoredMixer::attended(ops::AttentionInput input, const ForwardContext& context) {
  const auto* observer = context.observer;
  input.padding_mask = context.padding_mask;
  input.wants_probabilities = is_watched(observer);
  if (observer != nullptr && observer->largest_scores)
    observer->largest_scores(*this, ops::largest_scores(input));
  const auto output = ops::attention(input);
  if (is_watched(observer)) observer->attention(output.probabilities);
  return output.values;
}

namespace {

/// The number of channels of a mixer's queries, keys and values together; 0 without a projection.
int64_t projected_width(const AttentionOptions& options, int64_t d_model) {
  if (const auto* delta = std::get_if<DeltaRule>(&options))
    return 2 * d_model + delta->value_width(d_model);
  const auto* heads = std::get_if<MultiHead>(&options);
  if (heads == nullptr) return traits_of(options).has_projections ? 3 * d_model : 0;
  const auto widths = heads_of(*heads, d_model);
  return widths.query_width() + widths.key_width() + widths.value_width();
}

}  // namespace

std::shared_ptr<Mixer> make_mixer(const LayerOptions& layer, const StackOptions& stack) {
  auto made = std::visit([&](const auto& mixer) { return mixer.make(stack); }, layer.attention);
  if (layer.canon.has(CanonPlace::projections))
    made->convolve_projections(layer.canon, projected_width(layer.attention, stack.d_model));
  return made;
}

std::shared_ptr<Mixer> NoAttention::make(const StackOptions&) const { return nullptr; }

}  // namespace ablate::models
