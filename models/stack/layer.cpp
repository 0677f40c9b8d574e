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

template <class Mix, class Cross, class Feed>
torch::Tensor LayerImpl::through(torch::Tensor x, const ForwardContext& context,
                                 const SubLayers<Mix, Cross, Feed>& run) {
  const auto original = x;
  torch::Tensor input;
  const auto add = [&](std::optional<ResidualConnection>& around, const auto& sub_layer) {
    if (!around) return;
    if (block_ != Block::parallel || !input.defined())
      input = around->enter(block_ == Block::parallel_norms ? original : x, context);
    x = around->join(x, sub_layer(input), context);
  };
  add(around_attention_, run.mix);
  add(around_cross_attention_, run.cross);
  add(around_feed_forward_, run.feed);
  return x;
}

RoutedOutput LayerImpl::forward(const torch::Tensor& x, const StackOutput* memory,
                                const ops::AttentionPosition& position,
                                const ForwardContext& context) {
  auto of_mixer = context;
  if (causal_) of_mixer.padding_mask.reset();
  auto of_feed_forward = context;
  // Layers that share a feed-forward drop other elements of its hidden layer.
  if (!owns_feed_forward_) of_feed_forward.round = derive_seed(context.round, "layer", site());
  std::optional<Routing> routing;
  const SubLayers run{
      [&](const auto& y) {
        return attention_->forward(convolved(attention_canon_, y), position, of_mixer);
      },
      [&](const auto& y) { return cross_attention_(y, *memory, context); },
      [&](const auto& y) {
        auto branch = feed_forward_->forward(convolved(feed_forward_canon_, y), of_feed_forward);
        routing = std::move(branch.routing);
        return branch.output;
      }};
  const auto input =
      ngrams_ ? x + ngrams_->forward(x, context.token_ids, position.query_documents) : x;
  const auto output = through(input, context, run);
  return {.output = output, .routing = std::move(routing)};
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

torch::Tensor LayerImpl::step(const torch::Tensor& x, LayerCache& cache,
                              const torch::Tensor& memory_mask,
                              const ops::AttentionPosition& position,
                              const ForwardContext& context) {
  const auto input =
      ngrams_ ? x + ngrams_->step(x, context.token_ids, position.query_documents, cache.ngrams) : x;
  return through(
      input, context,
      SubLayers{[&](const auto& y) {
                  auto& own = cache.self_attention;
                  return attention_->step(convolved(attention_canon_, y, &own), own, position,
                                          context);
                },
                [&](const auto& y) {
                  return cross_attention_->step(y, cache.cross_attention, memory_mask, context);
                },
                [&](const auto& y) {
                  auto& own = cache.feed_forward;
                  return feed_forward_->step(convolved(feed_forward_canon_, y, &own), own, context);
                }});
}

}  // namespace ablate::models
