#include "models/transformer.h"

#include <cmath>

#include "models/mixture.h"

namespace ablate::models {
namespace {

/// 0, 1, 2, ... for every column, from operations a trace keeps. // [B, T] -> [T]
torch::Tensor places_of(const torch::Tensor& ids) {
  return torch::ones_like(ids.select(0, 0)).cumsum(0) - 1;
}

}  // namespace

TransformerImpl::TransformerImpl(const TransformerOptions& options, const Vocabulary& vocabulary)
    : options_(options),
      vocabulary_(vocabulary),
      family_(options.family),
      d_model_(options.d_model),
      pad_(vocabulary.pad),
      embedding_scale_(options.embedding_scale ? std::sqrt(static_cast<double>(d_model_)) : 1.0) {
  if (const auto* head = std::get_if<LabelHead>(&options.output)) pool_ = head->pool;
  make_tables(options.tying, vocabulary);
  if (family_ != Family::decoder_only)
    encoder_ = register_module("encoder", Stack(stack_of(options, options.encoder)));
  if (family_ != Family::encoder_only)
    decoder_ = register_module("decoder", Stack(stack_of(options, options.decoder)));
}

torch::Tensor TransformerImpl::table(const std::string& name, int64_t size) {
  torch::NoGradGuard no_grad;
  auto made = register_parameter(name, torch::empty({size, d_model_}));
  made.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(d_model_)));
  return made;
}

void TransformerImpl::make_tables(Tying tying, const Vocabulary& vocabulary) {
  if (family_ != Family::encoder_decoder) {
    const bool encodes = family_ == Family::encoder_only;
    source_table_ = target_table_ =
        table("embedding", encodes ? vocabulary.source : vocabulary.target);
    output_.dense = tying == Tying::none ? table(pool_ ? "classifier" : "output", vocabulary.target)
                                         : target_table_;
    return;
  }
  TORCH_CHECK(!shares_source(tying) || vocabulary.source == vocabulary.target,
              "a shared source embedding needs one vocabulary");
  if (one_embedding(tying)) {
    source_table_ = target_table_ = table("embedding", vocabulary.target);
  } else {
    source_table_ = table("source_embedding", vocabulary.source);
    target_table_ = table("target_embedding", vocabulary.target);
  }
  if (tying == Tying::three_way || tying == Tying::target)
    output_.dense = target_table_;
  else
    output_.dense = tying == Tying::source ? source_table_ : table("output", vocabulary.target);
}

torch::Tensor TransformerImpl::embed(const torch::Tensor& ids, const torch::Tensor& table,
                                     const torch::Tensor& position) {
  return with_positions(torch::embedding(table, ids) * embedding_scale_, position);  // [B, T, D]
}

torch::ScalarType TransformerImpl::compute_type() const {
  return bfloat16_ ? torch::kBFloat16 : output_.dense.scalar_type();
}

Memory TransformerImpl::encode(const torch::Tensor& source, Dropout& dropout, Recorded* recorded) {
  encoder_->check(source.size(1), dropout);
  const auto positions = encoder_->numbers(places_of(source), dropout);
  const auto terms = encoder_->position().terms(positions, positions);
  const auto x = drop(embed(source, source_table_, terms.embedding), dropout).to(compute_type());
  const auto real = source.ne(pad_);
  return {encoder_(x, nullptr, terms, Pass{dropout, real, source, recorded}), real};
}

Memory TransformerImpl::encode(const torch::Tensor& source) {
  Dropout none;
  return encode(source, none, nullptr);
}

torch::Tensor TransformerImpl::decode(const torch::Tensor& target, const Memory* memory,
                                      Dropout& dropout, Recorded* recorded) {
  decoder_->check(target.size(1), dropout);
  const auto positions = decoder_->numbers(places_of(target), dropout);
  const auto terms = decoder_->position().terms(positions, positions);
  const auto x = drop(embed(target, target_table_, terms.embedding), dropout).to(compute_type());
  return decoder_(x, memory, terms, Pass{dropout, target.ne(pad_), target, recorded});
}

torch::Tensor TransformerImpl::pooled(const Memory& memory) const {
  if (*pool_ == Pool::first) return memory.output.narrow(1, 0, 1);
  const auto share = memory.real.unsqueeze(-1).to(memory.output.scalar_type());  // [B, S, 1]
  return (memory.output * share).sum(1, /*keepdim=*/true) / share.sum(1, /*keepdim=*/true);
}

torch::Tensor TransformerImpl::hidden(const torch::Tensor& source, const torch::Tensor& target,
                                      Dropout& dropout, Recorded* recorded) {
  if (family_ == Family::decoder_only) return decode(target, nullptr, dropout, recorded);
  const auto memory = encode(source, dropout, recorded);
  if (family_ == Family::encoder_only) return pool_ ? pooled(memory) : memory.output;
  return decode(target, &memory, dropout, recorded);
}

torch::Tensor TransformerImpl::forward(const torch::Tensor& source, const torch::Tensor& target) {
  Dropout none;
  return project(hidden(source, target, none));
}

torch::Tensor TransformerImpl::project(const torch::Tensor& x) const {
  return ops::linear(x, output_);
}

void TransformerImpl::prepack(WeightDtype dtype) {
  for (const auto& module : modules()) {
    if (const auto linear = std::dynamic_pointer_cast<LinearImpl>(module)) linear->prepack(dtype);
    if (const auto mixture = std::dynamic_pointer_cast<Mixture>(module))
      mixture->prepack();
  }
  output_ = output_.prepacked(dtype);
}

DecoderCache TransformerImpl::start(const torch::Tensor& source) {
  TORCH_CHECK(family_ != Family::encoder_only, "an encoder_only model does not write");
  if (family_ == Family::encoder_decoder) {
    const auto memory = encode(source);
    return decoder_->start(memory.output, &memory);
  }
  // A sum over columns has every row, in a trace of any batch and where there is no column.
  const auto like =
      (source.sum(1).to(compute_type()) * 0).unsqueeze(1).unsqueeze(2).expand({-1, 1, d_model_});
  auto cache = decoder_->start(like, nullptr);
  if (source.size(1) > 0) extend(source, cache);
  return cache;
}

torch::Tensor TransformerImpl::extend(const torch::Tensor& ids, DecoderCache& cache) {
  TORCH_CHECK(ids.size(1) == 1 || cache.extent == 0, "several pieces need an empty cache");
  cache.extent += ids.size(1);
  Dropout none;
  decoder_->check(cache.extent, none);
  const auto places = torch::ones_like(cache.positions).sum() + places_of(ids);  // [T]
  const auto next = decoder_->numbers(places, none);
  cache.positions = torch::cat({cache.positions, next});
  const auto terms = decoder_->position().terms(next, cache.positions);
  const auto x = embed(ids, target_table_, terms.embedding).to(compute_type());
  return decoder_->step(x, cache, terms, Pass{none, {}, ids, cache.recorded});
}

torch::Tensor TransformerImpl::read(const torch::Tensor& ids, DecoderCache& cache) {
  return project(extend(ids, cache).select(1, -1));
}

torch::Tensor TransformerImpl::step(const torch::Tensor& last, DecoderCache& cache) {
  return read(last.unsqueeze(1), cache);
}

torch::Tensor TransformerImpl::target_positions(const torch::Tensor& ids) const {
  Dropout none;
  return decoder_->numbers(places_of(ids), none);
}

void TransformerImpl::check_length(int64_t length) const {
  Dropout none;
  if (encoder_) encoder_->check(length, none);
  if (decoder_) decoder_->check(length, none);
}

int64_t parameter_count(const torch::nn::Module& model) {
  int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace ablate::models
