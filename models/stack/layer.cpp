#include "models/stack/layer.h"

namespace ablate::models {

LayerImpl::LayerImpl(const StackOptions& stack, int64_t index,
                     std::shared_ptr<FeedForward> feed_forward)
    : causal_(stack.causal),
      owns_feed_forward_(feed_forward == nullptr),
      block_(stack.layer(index).block) {
  const auto& options = stack.layer(index);
  auto norm = options.norm;
  const auto connect = [&](auto& place, const std::string& name) {
    place.emplace(*this, name, norm, ResidualPlace{stack, index});
    if (block_ == Block::parallel) norm.kind = NormKind::none;
  };
  const auto convolve = [&](auto& convolution, CanonPlace place, const char* name) {
    if (options.canon.has(place))
      convolution = register_module(name, ShortConvolution(options.canon, stack.d_model, name));
  };
  convolve(attention_canon_, CanonPlace::attention, "canon_attention");
  convolve(feed_forward_canon_, CanonPlace::feed_forward, "canon_feed_forward");
  if ((attention_ = make_mixer(options, stack))) {
    register_module("attention", attention_);
    if (!options.norm.attention) norm.kind = NormKind::none;
    connect(around_attention_, "attention");
    if (!options.norm.attention) norm.kind = options.norm.kind;
  }
  if (const auto* over_memory = std::get_if<MultiHead>(&options.cross_attention)) {
    cross_attention_ = register_module("cross_attention", CrossAttention(*over_memory, stack));
    connect(around_cross_attention_, "cross_attention");
  }
  if (const auto* hashed = std::get_if<HashedNgrams>(&options.ngrams))
    ngrams_ = register_module("ngrams", NgramMemory(*hashed, stack));
  feed_forward_ = owns_feed_forward_ ? make_feed_forward(options, stack) : std::move(feed_forward);
  if (feed_forward_ == nullptr) return;
  if (owns_feed_forward_) register_module("feed_forward", feed_forward_);
  connect(around_feed_forward_, "feed_forward");
}

torch::Tensor LayerImpl::mixed(const torch::Tensor& x, const LayerPass& pass,
                               ForwardContext context) {
  if (causal_) context.padding_mask.reset();
  if (pass.cache == nullptr)
    return attention_->forward(convolved(attention_canon_, x), pass.position, context);
  auto& own = pass.cache->self_attention;
  return attention_->step(convolved(attention_canon_, x, &own), own, pass.position, context);
}

RoutedOutput LayerImpl::fed_forward(const torch::Tensor& x, const LayerPass& pass,
                                    ForwardContext context) {
  // Layers that share a feed-forward drop other elements of its hidden layer.
  if (!owns_feed_forward_) context.round = derive_seed(context.round, "layer", site());
  auto* own = pass.cache == nullptr ? nullptr : &pass.cache->feed_forward;
  return feed_forward_->forward(convolved(feed_forward_canon_, x, own), context, own);
}

RoutedOutput LayerImpl::forward(torch::Tensor x, const LayerPass& pass,
                                const ForwardContext& context) {
  auto* cache = pass.cache;
  if (ngrams_) {
    auto none = cache == nullptr ? ngrams_->empty_cache(x) : KVCache();
    auto& past = cache == nullptr ? none : cache->ngrams;
    x = x + ngrams_->forward(x, context.token_ids, pass.position.query_documents, past);
  }
  const auto original = x;
  torch::Tensor input;
  const auto add = [&](std::optional<ResidualConnection>& around, const auto& sub_layer) {
    if (!around) return;
    if (block_ != Block::parallel || !input.defined())
      input = around->enter(block_ == Block::parallel_norms ? original : x, context);
    x = around->join(x, sub_layer(input), context);
  };
  std::optional<Routing> routing;
  add(around_attention_, [&](const auto& y) { return mixed(y, pass, context); });
  add(around_cross_attention_, [&](const auto& y) {
    return cache == nullptr
               ? cross_attention_(y, *pass.memory, context)
               : cross_attention_->step(y, cache->cross_attention, pass.memory_mask, context);
  });
  add(around_feed_forward_, [&](const auto& y) {
    auto branch = fed_forward(y, pass, context);
    routing = std::move(branch.routing);
    return branch.output;
  });
  return {.output = x, .routing = std::move(routing)};
}

LayerCache LayerImpl::init_cache(const torch::Tensor& like, const StackOutput* memory) {
  LayerCache cache{
      .self_attention = attention_ ? attention_->empty_cache(like) : KVCache(),
      .cross_attention = cross_attention_ ? cross_attention_->project(memory->output) : KVCache(),
      .feed_forward = feed_forward_ ? feed_forward_->empty_cache(like) : KVCache(),
      .ngrams = ngrams_ ? ngrams_->empty_cache(like) : KVCache()};
  begin(attention_canon_, cache.self_attention, like);
  if (attention_) begin(attention_->canon(), cache.self_attention, like);
  begin(feed_forward_canon_, cache.feed_forward, like);
  return cache;
}

}  // namespace ablate::models
