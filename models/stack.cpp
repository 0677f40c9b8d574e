#include "models/stack.h"

#include <torch/nn/modules/container/modulelist.h>

#include <limits>

#include "models/parametrization.h"

namespace ablate::models {
namespace {

/// What the position scheme of the layers with this mixer must know.
PositionContext context_of(const StackOptions& options, MixerChoice mixer) {
  PositionContext context{.d_model = options.d_model,
                          .heads = 1,
                          .d_k = options.d_model,
                          .d_v = options.d_model,
                          .layers = options.scored_before(options.different_layers(), mixer),
                          .causal = options.causal,
                          .base_width = base_width_of(options.parametrization, options.d_model)};
  if (const auto* randomized = std::get_if<Randomized>(&options.position_ids))
    context.id_range = randomized->range;
  if (const auto* attention = options.scored_attention(mixer)) {
    const auto heads = heads_of(*attention, options.d_model);
    context.heads = heads.count;
    context.d_k = heads.d_k;
    context.d_v = heads.d_v;
    if (!attention->d_k)
      context.head_narrowing =
          static_cast<double>(context.base_width) / static_cast<double>(options.d_model);
  }
  return context;
}

std::vector<Layer> make_layers(Module& owner, const StackOptions& options) {
  auto list = owner.register_module("layers", torch::nn::ModuleList());
  std::vector<Layer> layers;
  for (int64_t i = 0; i < options.different_layers(); ++i) {
    const bool shares = i > 0 && options.shares_feed_forward();
    layers.emplace_back(options, i, shares ? layers.front()->feed_forward() : nullptr);
    list->push_back(layers.back());
  }
  return layers;
}

std::vector<Depth> make_depths(Module& owner, const StackOptions& options) {
  const auto layers = make_layers(owner, options);
  std::vector<int64_t> runs(layers.size());
  std::vector<Depth> depths;
  for (int64_t depth = 0; depth < options.layers; ++depth) {
    const int64_t index = options.layer_at(depth);
    const auto at = static_cast<size_t>(index);
    const auto mixer = options.mixer_of(index);
    depths.push_back({.layer = layers.at(at),
                      .mixer = mixer,
                      .scored = options.scored_before(index, mixer),
                      .round = runs.at(at)++});
  }
  return depths;
}

/// Runs x through the layers, each by `run(number of the depth, layer, x, what it knows of
/// positions, context)`. A layer that runs again draws other random numbers.
template <class Run>
torch::Tensor through(torch::Tensor x, std::vector<Depth>& depths, PositionTerms position,
                      const ForwardContext& context, Run&& run) {
  for (size_t i = 0; i < depths.size(); ++i) {
    auto& [layer, mixer, scored, round] = depths[i];
    if (i > 0 && position.every_layer) x = with_positions(x, position.embedding);
    auto& known = mixer == MixerChoice::other ? position.other_attention : position.attention;
    known.layer = scored;
    if (round == 0) {
      x = run(i, layer, x, known, context);
      continue;
    }
    auto again = context;
    again.seed = derive_seed(context.seed, "round", static_cast<uint64_t>(round));
    x = run(i, layer, x, known, again);
  }
  return x;
}

/// The bias, or zeros, with -infinity at the keys that stand `window` or more from a query, which
/// end the sequence. Position ids say nothing of places, for they may be any. // [H, T, S]
torch::Tensor hide_beyond(int64_t window, const ops::AttentionPosition& position, int64_t heads) {
  const auto place = torch::ones_like(position.key_positions).cumsum(0);     // [S]
  const auto number = torch::ones_like(position.query_positions).cumsum(0);  // [T]
  const auto own = number + (place.max() - number.max());
  const auto far = (own.unsqueeze(1) - place).abs().ge(window);  // [T, S]
  const auto bias = position.bias.defined()
                        ? position.bias
                        : torch::zeros_like(far, torch::kFloat).expand({heads, -1, -1});
  return bias.masked_fill(far, -std::numeric_limits<float>::infinity());
}

/// What the layers with this mixer know of positions, of which a window hides the far ones.
ops::AttentionPosition seen_by(const AttentionOptions& mixer, ops::AttentionPosition position) {
  if (const auto* heads = std::get_if<MultiHead>(&mixer); heads != nullptr && heads->window)
    position.bias = hide_beyond(*heads->window, position, heads->heads);
  return position;
}

}  // namespace

torch::Tensor with_positions(const torch::Tensor& x, const torch::Tensor& embedding) {
  return embedding.defined() ? x + embedding.to(x.scalar_type()) : x;
}

void DecoderCache::reorder(const torch::Tensor& order) {
  const auto device = position_ids.device();
  const auto own = order.to(device);
  for (auto& layer : layers) {
    layer.self_attention.reorder(own);
    layer.feed_forward.reorder(own);
  }
  if (layers.empty() || layers.front().cross_attention.blocks.empty()) return;
  // Hypotheses of one sentence read the same row: the tensor stays while nothing changes, and with
  // it what layers have gathered by it. The host compares, for which it need not wait.
  const auto rows = memory_rows.defined() ? memory_rows.index_select(0, order) : order;
  if (memory_rows.defined() && torch::equal(memory_rows, rows)) return;
  memory_rows = rows;
  const auto index = rows.unsqueeze(1).to(device);
  for (auto& layer : layers) layer.cross_attention.beam_index = index;
}

StackImpl::StackImpl(const StackOptions& options)
    : position_(register_module(
          "position",
          make_position(options.position, context_of(options, MixerChoice::attention)))),
      position_ids_(
          register_module("position_ids", std::make_shared<PositionIds>(options.position_ids))),
      dropout_(register_module("dropout", Dropout())),
      attention_(options.attention),
      depths_(make_depths(*this, options)),
      norm_(make_final_norm(*this, options)) {
  if (!options.pattern.empty()) other_attention_ = options.other_attention;
  if (options.other_position)
    other_position_ = register_module(
        "other_position",
        make_position(*options.other_position, context_of(options, MixerChoice::other)));
  parametrize(*this, options);
}

void StackImpl::check(int64_t length, const ForwardContext& context) const {
  position_->check(length);
  if (other_position_) other_position_->check(length);
  position_ids_->check(length, context);
}

PositionTerms StackImpl::position_terms(const torch::Tensor& query,
                                        const torch::Tensor& key) const {
  auto terms = position_->terms(query, key);
  if (other_attention_)
    terms.other_attention =
        seen_by(*other_attention_,
                other_position_ ? other_position_->terms(query, key).attention : terms.attention);
  terms.attention = seen_by(attention_, std::move(terms.attention));
  return terms;
}

StackOutput StackImpl::forward(torch::Tensor x, const StackOutput* memory,
                               const PositionTerms& position, const ForwardContext& context) {
  std::vector<Routing> routings;
  x = through(x, depths_, position, context,
              [&](size_t, Layer& layer, const auto& y, const auto& at, const auto& own) {
                auto made = layer(y, memory, at, own);
                if (made.routing) routings.push_back(std::move(*made.routing));
                if (own.observer != nullptr && own.observer->layer_output)
                  own.observer->layer_output(made.output);
                return made.output;
              });
  return {.output = norm_ ? norm_(x, context) : x,
          .padding_mask = context.padding_mask,
          .routings = std::move(routings)};
}

DecoderCache StackImpl::init_cache(const torch::Tensor& like, const StackOutput* memory) {
  DecoderCache cache{
      .layers = {},
      .memory_mask = memory == nullptr ? torch::Tensor() : memory->padding_mask,
      .position_ids = torch::zeros({0}, torch::TensorOptions(torch::kLong).device(like.device()))};
  for (auto& depth : depths_) cache.layers.push_back(depth.layer->init_cache(like, memory));
  return cache;
}

torch::Tensor StackImpl::step(torch::Tensor x, DecoderCache& cache, const PositionTerms& position,
                              const ForwardContext& context) {
  x = through(x, depths_, position, context,
              [&](size_t i, Layer& layer, const auto& y, const auto& at, const auto& own) {
                return layer->step(y, cache.layers[i], cache.memory_mask, at, own);
              });
  return norm_ ? norm_(x, context) : x;
}

}  // namespace ablate::models
