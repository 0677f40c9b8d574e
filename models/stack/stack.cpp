#include "models/stack/stack.h"

#include <torch/nn/modules/container/modulelist.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "models/ops/backend.h"
#include "models/parametrization.h"

namespace ablate::models {
namespace {

/// The properties of its layers that a position scheme depends on.
PositionContext context_of(const StackOptions& options, const Scheme& scheme) {
  PositionContext context{.d_model = options.d_model,
                          .heads = 1,
                          .d_k = options.d_model,
                          .d_v = options.d_model,
                          .layers = scheme.scored,
                          .causal = options.causal,
                          .base_width = base_width_of(options.parametrization, options.d_model)};
  if (const auto* randomized = std::get_if<Randomized>(&options.position_ids))
    context.id_range = randomized->range;
  if (const auto* t5 = std::get_if<T5Initialization>(&options.initialization))
    context.embedding_factor = t5->factor;
  if (scheme.heads) {
    const auto heads = heads_of(*scheme.heads, options.d_model);
    context.heads = heads.count;
    context.d_k = heads.d_k;
    context.d_v = heads.d_v;
    context.head_narrowing = head_narrowing_of(*scheme.heads, options);
  }
  return context;
}

std::shared_ptr<Position> make_scheme(const StackOptions& options, const Scheme& scheme) {
  return make_position(scheme.options, context_of(options, scheme));
}

/// The feed-forward of the first layer before this one that shares it; null: there is none.
std::shared_ptr<FeedForward> earlier_feed_forward(const StackOptions& options, int64_t index,
                                                  const std::vector<Layer>& layers) {
  for (size_t i = 0; i < layers.size(); ++i)
    if (share_feed_forward(options.layer(index), options.layers[i]))
      return layers[i]->feed_forward();
  return nullptr;
}

/// Further heads: layers like the last one.
std::vector<Layer> make_ahead(Module& owner, const StackOptions& options) {
  if (options.ahead == 0) return {};
  auto list = owner.register_module("ahead", torch::nn::ModuleList());
  std::vector<Layer> layers;
  for (int64_t i = 0; i < options.ahead; ++i) {
    layers.emplace_back(options, options.different_layers() - 1);
    list->push_back(layers.back());
  }
  return layers;
}

std::vector<Layer> make_layers(Module& owner, const StackOptions& options) {
  auto list = owner.register_module("layers", torch::nn::ModuleList());
  std::vector<Layer> layers;
  for (int64_t i = 0; i < options.different_layers(); ++i) {
    layers.emplace_back(options, i, earlier_feed_forward(options, i, layers));
    list->push_back(layers.back());
  }
  return layers;
}

/// The bias, or zeros, with -infinity at the keys at a distance of `window` or more from a query.
/// The queries are the last positions. Distances are counted in tokens, not in position ids, which
/// may have gaps. // [H, T, S]
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

}  // namespace

torch::Tensor with_positions(const torch::Tensor& x, const torch::Tensor& embedding) {
  return embedding.defined() ? x + embedding.to(x.scalar_type()) : x;
}

void DecoderCache::reorder(const torch::Tensor& order) {
  const auto device = position_ids.device();
  const auto own = ops::to_device(order, device);
  if (documents.defined()) documents = documents.index_select(0, own);
  for (auto& layer : layers) {
    for (auto* part : {&layer.self_attention, &layer.feed_forward, &layer.ngrams})
      part->reorder(own);
  }
  const auto reads = [](const LayerCache& layer) { return !layer.cross_attention.blocks.empty(); };
  if (std::ranges::none_of(layers, reads)) return;
  // Hypotheses of one sentence read the same row. If no row changes, beam_index stays the same
  // tensor, so that layers reuse their reordered blocks. The comparison is on the CPU and waits for
  // no GPU.
  const auto rows = memory_rows.defined() ? memory_rows.index_select(0, order) : order;
  if (memory_rows.defined() && torch::equal(memory_rows, rows)) return;
  memory_rows = rows;
  const auto index = ops::to_device(rows.unsqueeze(1), device);
  for (auto& layer : layers) layer.cross_attention.beam_index = index;
}

void DecoderCache::keep_first(int64_t count) {
  for (auto& layer : layers) layer.self_attention.keep_first(count);
  position_ids = position_ids.narrow(0, 0, count);
  if (documents.defined()) documents = documents.narrow(1, 0, count);
  length = count;
}

StackImpl::StackImpl(const StackOptions& options)
    : round_(options.layers.size()),
      fewest_(static_cast<size_t>(options.fewest.value_or(options.depth))),
      injects_(options.inject) {
  const auto plan = position_plan(options);
  schemes_.push_back(register_module("position", make_scheme(options, plan.schemes.front())));
  position_ids_ =
      register_module("position_ids", std::make_shared<PositionIds>(options.position_ids));
  embedding_norm_ = make_embedding_norm(*this, options);
  dropout_ = register_module("dropout", Dropout(options.embedding_dropout));
  make_views(options, plan);
  make_entries(options, plan);
  ahead_ = make_ahead(*this, options);
  if ((mix_ = make_residual_mix(options))) register_module("residual_mix", mix_);
  norm_ = make_final_norm(*this, options);
  if (options.final_dropout > 0)
    final_dropout_ = register_module("final_dropout", Dropout(options.final_dropout));
  for (size_t i = 1; i < plan.schemes.size(); ++i) {
    const auto& scheme = plan.schemes[i];
    schemes_.push_back(register_module("position_" + std::to_string(scheme.first + 1),
                                       make_scheme(options, scheme)));
  }
  parametrize(*this, options);
}

void StackImpl::make_views(const StackOptions& options, const PositionPlan& plan) {
  for (size_t i = 0; i < options.layers.size(); ++i) {
    View view{.scheme = plan.layers[i].scheme, .window = {}, .heads = 0};
    const auto* heads = std::get_if<MultiHead>(&options.layers[i].attention);
    if (heads != nullptr && heads->window) {
      view.window = heads->window;
      view.heads = heads->maps();
    }
    const auto found = std::ranges::find(views_, view);
    view_of_.push_back(static_cast<size_t>(found - views_.begin()));
    if (found == views_.end()) views_.push_back(view);
  }
}

void StackImpl::make_entries(const StackOptions& options, const PositionPlan& plan) {
  const auto layers = make_layers(*this, options);
  std::vector<int64_t> runs(layers.size());
  std::vector<bool> started(plan.schemes.size());
  for (int64_t depth = 0; depth < options.depth; ++depth) {
    const auto index = static_cast<size_t>(options.layer_at(depth));
    const auto& [scheme, score_index] = plan.layers[index];
    entries_.push_back({.layer = layers[index],
                        .scheme = scheme,
                        .view = view_of_[index],
                        .starts_scheme = !started[scheme],
                        .score_index = score_index,
                        .repeat = runs[index]++});
    started[scheme] = true;
  }
}

void StackImpl::check(int64_t length, const ForwardContext& context) const {
  for (const auto& scheme : schemes_) scheme->check(length);
  position_ids_->check(length, context);
}

StackPositions StackImpl::positions(const torch::Tensor& query, const torch::Tensor& key) const {
  StackPositions known;
  for (const auto& scheme : schemes_) known.schemes.push_back(scheme->terms(query, key));
  for (const auto& [scheme, window, heads] : views_) {
    auto view = known.schemes[scheme].attention;
    if (window) view.bias = hide_beyond(*window, view, heads);
    view.window = window;
    view.kept_mask = std::make_shared<torch::Tensor>();
    known.views.push_back(std::move(view));
  }
  return known;
}

void StackImpl::fit_rows(StackPositions& positions, const torch::Tensor& ids,
                         const torch::Tensor& padding_mask) const {
  for (size_t i = 0; i < schemes_.size(); ++i)
    if (const auto own = schemes_[i]->row_embedding(ids, padding_mask); own.defined())
      positions.schemes[i].embedding = own;
}

size_t StackImpl::depth_of(const ForwardContext& context) const {
  const size_t more = (entries_.size() - fewest_) / round_;
  if (!context.training || more == 0) return entries_.size();
  return fewest_ + round_ * (derive_seed(context.seed, "rounds", site()) % (more + 1));
}

StackOutput StackImpl::run(torch::Tensor x, const Pass& pass, const StackPositions& positions,
                           const ForwardContext& context) {
  StackOutput result{.padding_mask = context.padding_mask};
  auto stream = mix_ ? mix_->start(x) : MixedStream();
  const auto embedded = x;
  NamedTensors shared;
  for (size_t i = 0, depth = depth_of(context); i < depth; ++i) {
    auto& entry = entries_[i];
    const auto& scheme = positions.schemes[entry.scheme];
    if (mix_) x = mix_->read(stream, static_cast<int64_t>(i));
    const auto read = x;  // position vectors that are added stay in the stream, too
    if (injects_ && i > 0 && i % round_ == 0) x = x + embedded;
    if (i > 0 && (entry.starts_scheme || scheme.every_layer))
      x = with_positions(x, scheme.embedding);
    auto known = positions.views[entry.view];
    known.layer = entry.score_index;
    auto own = context;
    own.shared = &shared;
    if (entry.repeat > 0) own.round = static_cast<uint64_t>(entry.repeat);
    const auto through = [&, input = x](Layer& layer, size_t number) {
      LayerPass of_layer{.position = known, .memory = pass.memory};
      if (pass.cache != nullptr) {
        of_layer.cache = &pass.cache->layers[number];
        of_layer.memory_mask = pass.cache->memory_mask;
      }
      return layer->forward(input, of_layer, own);
    };
    auto made = through(entry.layer, i);
    x = made.output;
    if (made.routing) result.routings.push_back(std::move(*made.routing));
    if (pass.cache == nullptr && own.observer != nullptr && own.observer->layer_output)
      own.observer->layer_output(x);
    // The heads beside it may read the first values that it keeps.
    for (size_t head = 0; head < heads_beside(i, own); ++head)
      result.ahead.push_back(through(ahead_[head], entries_.size() + head).output);
    if (mix_) mix_->write(stream, read, x);
  }
  result.output = mix_ ? mix_->read(stream, std::ssize(entries_)) : x;
  return leave(std::move(result), context);
}

StackOutput StackImpl::forward(torch::Tensor x, const StackOutput* memory,
                               const StackPositions& positions, const ForwardContext& context) {
  return run(std::move(x), {.memory = memory}, positions, context);
}

StackOutput StackImpl::step(torch::Tensor x, DecoderCache& cache, const StackPositions& positions,
                            const ForwardContext& context) {
  return run(std::move(x), {.cache = &cache}, positions, context);
}

size_t StackImpl::heads_beside(size_t entry, const ForwardContext& context) const {
  const auto wanted = static_cast<size_t>(context.ahead);  // of the decoder
  return entry + 1 == entries_.size() ? std::min(wanted, ahead_.size()) : 0;
}

StackOutput StackImpl::leave(StackOutput output, const ForwardContext& context) {
  const auto left = [&](const torch::Tensor& x) {
    const auto y = norm_ ? norm_(x, context) : x;
    return final_dropout_ ? final_dropout_(y, context) : y;
  };
  output.output = left(output.output);
  for (auto& x : output.ahead) x = left(x);
  return output;
}

DecoderCache StackImpl::init_cache(const torch::Tensor& like, const StackOutput* memory,
                                   int64_t ahead) {
  DecoderCache cache{
      .layers = {},
      .memory_mask = memory == nullptr ? torch::Tensor() : memory->padding_mask,
      .position_ids = torch::zeros({0}, torch::TensorOptions(torch::kLong).device(like.device()))};
  for (auto& entry : entries_) cache.layers.push_back(entry.layer->init_cache(like, memory));
  for (size_t head = 0; head < static_cast<size_t>(ahead); ++head)
    cache.layers.push_back(ahead_.at(head)->init_cache(like, memory));
  return cache;
}

}  // namespace ablate::models
