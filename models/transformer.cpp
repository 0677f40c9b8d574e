#include "models/transformer.h"

#include <cmath>

namespace ablate::models {
namespace {

/// 0, 1, 2, ... for every column, from operations a trace keeps. // [B, T] -> [T]
torch::Tensor positions_of(const torch::Tensor& ids) {
  return torch::ones_like(ids.select(0, 0)).cumsum(0) - 1;
}

template <class Holder>
std::vector<Holder> make_layers(torch::nn::Module& owner, const TransformerOptions& options) {
  auto list = owner.register_module("layers", torch::nn::ModuleList());
  std::vector<Holder> layers;
  for (int64_t i = 0; i < options.layers; ++i) {
    layers.emplace_back(options);
    list->push_back(layers.back());
  }
  return layers;
}

PositionContext context_of(const TransformerOptions& options, bool causal) {
  const Heads heads(options.attention, options.d_model);
  return {options.d_model, heads.count, heads.d_k, heads.d_v, options.layers, causal};
}

/// A stack's input plus its position vectors, where it has any.
torch::Tensor with_positions(const torch::Tensor& x, const torch::Tensor& embedding) {
  return embedding.defined() ? x + embedding.to(x.scalar_type()) : x;
}

/// Runs x through the layers, each by `run(index, x, what it knows of positions)`.
template <class Run>
torch::Tensor through(torch::Tensor x, size_t layers, PositionTerms position, Run&& run) {
  for (size_t i = 0; i < layers; ++i) {
    if (i > 0 && position.every_layer) x = with_positions(x, position.embedding);
    position.attention.layer = static_cast<int64_t>(i);
    x = run(i, x, position.attention);
  }
  return x;
}

void reorder(KeyValue& memory, const torch::Tensor& rows) {
  memory = {memory.key.index_select(0, rows), memory.value.index_select(0, rows)};
}

}  // namespace

EncoderImpl::EncoderImpl(const TransformerOptions& options)
    : position_(
          register_module("position", make_position(options.position, context_of(options, false)))),
      layers_(make_layers<EncoderLayer>(*this, options)) {
  if (options.norm.placement == NormPlacement::pre)
    norm_ = register_module("norm", Norm(options.d_model));
}

torch::Tensor EncoderImpl::forward(torch::Tensor x, const torch::Tensor& real,
                                   const PositionTerms& position, Dropout& dropout) {
  x = through(x, layers_.size(), position, [&](size_t i, const auto& y, const auto& at) {
    return layers_[i](y, real, at, dropout);
  });
  return norm_ ? norm_(x) : x;
}

void DecoderCache::reorder(const torch::Tensor& rows) {
  for (auto& layer : layers) {
    models::reorder(layer.past, rows);
    models::reorder(layer.memory, rows);
  }
  real = real.index_select(0, rows);
}

DecoderImpl::DecoderImpl(const TransformerOptions& options)
    : position_(
          register_module("position", make_position(options.position, context_of(options, true)))),
      layers_(make_layers<DecoderLayer>(*this, options)) {
  if (options.norm.placement == NormPlacement::pre)
    norm_ = register_module("norm", Norm(options.d_model));
}

torch::Tensor DecoderImpl::forward(torch::Tensor x, const Memory& memory,
                                   const PositionTerms& position, Dropout& dropout) {
  x = through(x, layers_.size(), position, [&](size_t i, const auto& y, const auto& at) {
    return layers_[i](y, memory, at, dropout);
  });
  return norm_ ? norm_(x) : x;
}

DecoderCache DecoderImpl::start(const Memory& memory) {
  DecoderCache cache{.layers = {},
                     .real = memory.real,
                     .positions = torch::zeros({0}, memory.real.options().dtype(torch::kLong))};
  for (auto& layer : layers_) cache.layers.push_back(layer->start(memory));
  return cache;
}

torch::Tensor DecoderImpl::step(torch::Tensor x, DecoderCache& cache,
                                const PositionTerms& position) {
  x = through(x, layers_.size(), position, [&](size_t i, const auto& y, const auto& at) {
    return layers_[i]->step(y, cache.layers[i], cache.real, at);
  });
  return norm_ ? norm_(x) : x;
}

TransformerImpl::TransformerImpl(const TransformerOptions& options, const Vocabulary& vocabulary)
    : d_model_(options.d_model), pad_(vocabulary.pad), encoder_(nullptr), decoder_(nullptr) {
  const auto table = [&](const char* name, int64_t size) {
    torch::NoGradGuard no_grad;
    auto made = register_parameter(name, torch::empty({size, d_model_}));
    made.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(d_model_)));
    return made;
  };
  TORCH_CHECK(options.tying != Tying::three_way || vocabulary.source == vocabulary.target,
              "three-way tying needs one vocabulary");
  if (options.tying == Tying::three_way) {
    source_table_ = target_table_ = output_ = table("embedding", vocabulary.target);
  } else {
    source_table_ = table("source_embedding", vocabulary.source);
    target_table_ = table("target_embedding", vocabulary.target);
    output_ = options.tying == Tying::target ? target_table_ : table("output", vocabulary.target);
  }
  encoder_ = register_module("encoder", Encoder(options));
  decoder_ = register_module("decoder", Decoder(options));
}

torch::Tensor TransformerImpl::embed(const torch::Tensor& ids, const torch::Tensor& table,
                                     const torch::Tensor& position) {
  const auto x =
      torch::embedding(table, ids) * std::sqrt(static_cast<double>(d_model_));  // [B, T, D]
  return with_positions(x, position);
}

torch::ScalarType TransformerImpl::compute_type() const {
  return bfloat16_ ? torch::kBFloat16 : output_.scalar_type();
}

Memory TransformerImpl::encode(const torch::Tensor& source, Dropout& dropout) {
  encoder_->position().check(source.size(1));
  const auto positions = positions_of(source);
  const auto terms = encoder_->position().terms(positions, positions);
  const auto x = drop(embed(source, source_table_, terms.embedding), dropout).to(compute_type());
  const auto real = source.ne(pad_);
  return {encoder_(x, real, terms, dropout), real};
}

Memory TransformerImpl::encode(const torch::Tensor& source) {
  Dropout none;
  return encode(source, none);
}

torch::Tensor TransformerImpl::hidden(const torch::Tensor& source, const torch::Tensor& target,
                                      Dropout& dropout) {
  const auto memory = encode(source, dropout);
  decoder_->position().check(target.size(1));
  const auto positions = positions_of(target);
  const auto terms = decoder_->position().terms(positions, positions);
  const auto x = drop(embed(target, target_table_, terms.embedding), dropout).to(compute_type());
  return decoder_(x, memory, terms, dropout);
}

torch::Tensor TransformerImpl::forward(const torch::Tensor& source, const torch::Tensor& target) {
  Dropout none;
  const auto x = hidden(source, target, none);
  return torch::linear(x, output_.to(x.scalar_type()));
}

DecoderCache TransformerImpl::start(const Memory& memory) { return decoder_->start(memory); }

torch::Tensor TransformerImpl::step(const torch::Tensor& last, DecoderCache& cache) {
  decoder_->position().check(++cache.extent);
  const auto next = torch::ones_like(cache.positions).sum().unsqueeze(0);  // [1]
  cache.positions = torch::cat({cache.positions, next});
  const auto terms = decoder_->position().terms(next, cache.positions);
  const auto x = embed(last.unsqueeze(1), target_table_, terms.embedding).to(compute_type());
  const auto y = decoder_->step(x, cache, terms);
  return torch::linear(y, output_.to(y.scalar_type())).squeeze(1);
}

int64_t parameter_count(const torch::nn::Module& model) {
  int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace ablate::models
