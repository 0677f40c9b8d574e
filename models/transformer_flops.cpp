#include "models/transformer_flops.h"

#include <algorithm>
#include <concepts>

#include "models/attention/stages.h"
#include "models/mixer.h"
#include "models/options/feed_forward_options.h"

namespace ablate::models {
namespace {

// Here "products" are multiplications: of a matrix product those are its three extents' product.

template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);

double times(auto... extents) { return (static_cast<double>(extents) * ...); }

/// One attention: the number of sequences, of queries in each, and of keys that they see.
struct Reach {
  ops::Heads heads;
  int64_t rows, queries, keys;

  double products() const { return times(rows, heads.count, queries, keys, heads.d_k + heads.d_v); }
};

/// The products of a position scheme in one layer.
struct LayerPosition {
  const StackOptions& stack;
  Reach reach;

  template <OneOf<NoPosition, Sinusoidal, Learned, Rotary, Alibi, T5Bias, Kerple, Sandwich> T>
  double operator()(const T&) const {
    return 0;
  }
  double operator()(const Fire&) const { return 0; }  // fire_products()
  double operator()(const Shaw& o) const {
    const auto& [heads, rows, queries, keys] = reach;
    const double values = o.values ? times(rows, heads.count, queries, keys, heads.d_v) : 0;
    return of_query(2 * o.max_distance + 1) + values;
  }
  // The vectors of all distances are projected once for the batch.
  double operator()(const TransformerXl&) const {
    return times(reach.heads.count, reach.heads.d_k, stack.d_model, distances()) +
           of_query(distances());
  }
  double operator()(const Cope& o) const { return of_query(o.positions); }
  // Queries and keys have a real and an imaginary part.
  double operator()(const Pope&) const { return of_query(reach.keys); }

 private:
  /// Products of every query with `vectors` others.
  double of_query(int64_t vectors) const {
    return times(reach.rows, reach.heads.count, reach.queries, reach.heads.d_k, vectors);
  }
  /// Different distances of a sequence's positions, of random ids the most that there can be.
  int64_t distances() const {
    const int64_t length = reach.queries;
    const auto* randomized = std::get_if<Randomized>(&stack.position_ids);
    if (randomized == nullptr) return 2 * length - 1;
    return std::min(length * (length - 1) + 1, 2 * randomized->range - 1);
  }
};

/// The products of FIRE's network for every pair of `length` positions, once for all layers.
double fire_products(const PositionOptions& scheme, int64_t heads, int64_t length) {
  const auto* fire = std::get_if<Fire>(&scheme);
  return fire == nullptr ? 0 : times(length, length, fire->hidden, 1 + heads);
}

/// The mixer of one layer over `rows` sequences of `length` positions.
struct MixerProducts {
  const StackOptions& stack;
  PositionOptions position;
  int64_t rows, length;

  double operator()(const MultiHead& o) const {
    const auto heads = heads_of(o, stack.d_model);
    const auto stages = cost_of_stages({o, stack});
    auto scored = heads;
    scored.d_k += stages.keys;
    const int64_t seen = !o.window ? length : stack.causal ? *o.window : 2 * *o.window - 1;
    const Reach reach{scored, rows, length, std::min(length, seen)};
    return projected(heads.query_width() + heads.key_width() + heads.value_width()) +
           projected(stages.columns + o.heads * heads.d_v) + reach.products() +
           std::visit(LayerPosition{stack, reach}, position);
  }
  double operator()(const Latent& o) const {
    const auto widths = widths_of(o, stack.d_model);
    const int64_t query = widths.heads * (widths.shared + widths.d_k);
    const double queries =
        o.query_rank ? times(rows, length, *o.query_rank, stack.d_model + query) : projected(query);
    const Reach reach{{.count = widths.heads,
                       .key_values = widths.heads,
                       .d_k = widths.shared + widths.d_k,
                       .d_v = widths.d_v},
                      rows,
                      length,
                      length};
    return queries + projected(widths.rank + widths.shared + widths.heads * widths.d_v) +
           times(rows, length, widths.rank, widths.heads * (widths.d_k + widths.d_v)) +
           reach.products() + std::visit(LayerPosition{stack, reach}, position);
  }
  double operator()(const NoAttention&) const { return 0; }
  double operator()(const Lstm&) const {
    const int64_t directions = stack.causal ? 1 : 2, width = stack.d_model / directions;
    return times(directions, rows, length, 4 * width, stack.d_model + width);
  }
  double operator()(const Convolution& o) const { return projected(2 * o.width * stack.d_model); }
  double operator()(const Average&) const { return projected(2 * stack.d_model); }
  double operator()(const LinearAttention& o) const {
    const int64_t gate = o.decay == Forgetting::none ? 0 : stack.d_model;
    const double weights = projected(4 * stack.d_model + gate + keep_width(o));
    if (!stack.causal) return weights + 2 * times(rows, length, length, stack.d_model);
    // The state has the sums of its keys, too.
    return weights + 2 * within_chunks(o.decay) + of_state(o, 1) +
           times(rows, length, stack.d_model);
  }
  double operator()(const DeltaRule& o) const {
    const int64_t values = o.value_width(stack.d_model), gate = o.output_gate ? values : 0;
    const auto wide = static_cast<double>(o.expand);
    const double triangular_solve = wide * within_chunks(o.decay) / 2;
    return projected(2 * stack.d_model + 2 * values + gate + o.heads + keep_width(o)) +
           (2 + wide) * within_chunks(o.decay) + triangular_solve + wide * of_state(o, 2);
  }

  double operator()(const Mamba2& o) const {
    const int64_t values = o.value_width(stack.d_model);
    const double weights = projected(2 * values + 2 * o.state_size + o.heads + values) +
                           times(rows, length, Mamba2::width, o.convolved_width(stack.d_model));
    // All heads share the products of queries and keys.
    const double chunks = times(rows, pairs_in_chunks(Forgetting::gated), o.state_size + values);
    return weights + chunks + times(rows, length + writes(Forgetting::gated), o.state_size, values);
  }

 private:
  /// Products of a projection from or to the model's width.
  double projected(int64_t width) const { return times(rows, length, stack.d_model, width); }
  /// Columns of the gate that decides what is kept.
  int64_t keep_width(const MatrixState& o) const {
    if (o.decay == Forgetting::channels) return stack.d_model;
    return o.decay == Forgetting::gated ? o.heads : 0;
  }
  /// Positions in the last chunk.
  int64_t last_chunk(Forgetting decay) const { return (length - 1) % chunk_length(decay) + 1; }
  /// Positions in chunks that another one follows.
  int64_t writes(Forgetting decay) const { return length - last_chunk(decay); }
  /// Pairs of positions in one chunk.
  int64_t pairs_in_chunks(Forgetting decay) const {
    const int64_t last = last_chunk(decay);
    return (length - last) * chunk_length(decay) + last * last;
  }
  /// Products of all positions with all others of their chunk, in heads that divide the model's
  /// width.
  double within_chunks(Forgetting decay) const {
    return times(rows, stack.d_model, pairs_in_chunks(decay));
  }
  /// Products of every position with the matrix that each head keeps, which it reads so many times,
  /// and which it changes if another chunk follows.
  double of_state(const MatrixState& o, int64_t reads) const {
    return times(rows, reads * length + writes(o.decay), stack.d_model, stack.d_model / o.heads);
  }
};

/// Attention of `length` positions over `memory` others.
double cross_products(const StackOptions& stack, const MultiHead& o, const PassExtent& extent) {
  const auto heads = heads_of(o, stack.d_model);
  const int64_t queries =
      heads.query_width() + cost_of_stages({o, stack}).columns + o.heads * heads.d_v;
  return times(extent.rows, extent.target, stack.d_model, queries) +
         times(extent.rows, extent.source, stack.d_model, heads.key_width() + heads.value_width()) +
         Reach{heads, extent.rows, extent.target, extent.source}.products();
}

/// Products of a router for one position.
struct RouterProducts {
  const MixtureOptions& mixture;
  int64_t d_model;

  template <OneOf<SoftmaxRouter, SwitchRouter, GshardRouter, SigmoidRouter, ExpertChoiceRouter,
                  SimilarityRouter>
                T>
  double operator()(const T&) const {
    return times(mixture.experts, d_model);
  }
  double operator()(const NoisyRouter&) const { return 2 * times(mixture.experts, d_model); }
  double operator()(const HashRouter&) const { return 0; }
  double operator()(const OracleRouter&) const {
    return times(mixture.experts, mixture.d_hidden, d_model);
  }
  double operator()(const NetworkRouter&) const {
    return times(mixture.experts, d_model + mixture.experts);
  }
};

/// Products of a feed-forward for one position.
struct FeedForwardProducts {
  int64_t d_model;

  double operator()(const DenseFeedForward& o) const {
    return times(d_model, o.d_hidden, o.gated ? 3 : 2);
  }
  double operator()(const MixtureOptions& o) const {
    return times(o.active + o.shared_experts, d_model, o.d_hidden, o.gated ? 3 : 2) +
           std::visit(RouterProducts{o, d_model}, o.router);
  }
  double operator()(const NoFeedForward&) const { return 0; }
};

/// The products of mixing streams, for one position of one layer.
double mix_products(const StackOptions& stack) {
  const auto* hyper = std::get_if<HyperMix>(&stack.residual_mix);
  if (hyper == nullptr) return 0;
  const int64_t n = hyper->streams;
  const int64_t read_by_weights = hyper->manifold ? n : 1;  // streams
  return times(stack.d_model, n * (n + 2) * read_by_weights + n * n);
}

/// Products of a layer's short convolutions for one position: as many as they have weights.
double canon_products(const StackOptions& stack, const LayerOptions& layer) {
  const auto feed_forward = feed_forward_of(layer.feed_forward);
  const auto* dense = std::get_if<DenseFeedForward>(&feed_forward);
  const auto channels = [&](CanonPlace place) -> int64_t {
    switch (place) {
      case CanonPlace::attention:
      case CanonPlace::feed_forward:
        return stack.d_model;
      case CanonPlace::projections:
        return projected_width(layer.attention, stack.d_model);
      case CanonPlace::hidden:
        return dense == nullptr ? 0 : dense->gated ? 2 * dense->d_hidden : dense->d_hidden;
    }
    return 0;
  };
  double sum = 0;
  for (const auto place : layer.canon.places) sum += times(layer.canon.width, channels(place));
  return sum;
}

double layer_products(const StackOptions& stack, const LayerOptions& layer,
                      const PassExtent& extent) {
  const int64_t length = stack.causal ? extent.target : extent.source;
  const MixerProducts mixer{stack, layer.position, extent.rows, length};
  const auto* cross = std::get_if<MultiHead>(&layer.cross_attention);
  const double feed_forward =
      std::visit(FeedForwardProducts{stack.d_model}, feed_forward_of(layer.feed_forward));
  const bool reads = std::holds_alternative<HashedNgrams>(layer.ngrams);
  return std::visit(mixer, layer.attention) +
         (reads ? times(extent.rows, length, stack.d_model, 2 * stack.d_model) : 0) +
         (cross != nullptr ? cross_products(stack, *cross, extent) : 0) +
         times(extent.rows, length,
               feed_forward + mix_products(stack) + canon_products(stack, layer));
}

}  // namespace

double stack_products(const StackOptions& stack, const PassExtent& extent, int64_t first) {
  const int64_t length = stack.causal ? extent.target : extent.source;
  double sum = 0;
  for (int64_t depth = first; depth < stack.depth; ++depth)
    sum += layer_products(stack, stack.layer(stack.layer_at(depth)), extent);
  for (const auto& scheme : position_plan(stack).schemes)
    if (scheme.heads && first < stack.depth)
      sum += fire_products(scheme.options, scheme.heads->maps(), length);
  return sum;
}

HeadProducts head_products(const TransformerOptions& options, const Vocabulary& vocabulary,
                           const PassExtent& extent) {
  const bool labels = predicts_labels(options.output);
  const int64_t predicted = labels                                   ? 1
                            : options.family == Family::encoder_only ? extent.source
                                                                     : extent.target;
  const auto* tokens = std::get_if<LmHead>(&options.output);
  const bool transforms = tokens != nullptr && tokens->transform;
  const double positions = times(extent.rows, predicted, options.d_model);
  return {.output = positions * times(vocabulary.target),
          .transform = transforms ? positions * times(options.d_model) : 0};
}

double flops_ahead(const TransformerOptions& options, const Vocabulary& vocabulary,
                   const PassExtent& extent) {
  const auto stack = stack_of(options, Side::decoder);
  const auto head = head_products(options, vocabulary, extent);
  return 2 * (layer_products(stack, stack.last_layer(), extent) + head.output + head.transform);
}

double forward_flops(const TransformerOptions& options, const Vocabulary& vocabulary,
                     const PassExtent& extent) {
  const auto head = head_products(options, vocabulary, extent);
  double products = head.output + head.transform;
  for (const auto side : {Side::encoder, Side::decoder})
    if (has_side(options.family, side)) products += stack_products(stack_of(options, side), extent);
  return 2 * products;
}

}  // namespace ablate::models
