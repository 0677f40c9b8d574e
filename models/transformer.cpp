#include "models/transformer.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "models/feed_forward/feed_forward.h"
#include "models/module.h"
#include "models/ops/top_k.h"
#include "models/parametrization.h"

namespace ablate::models {
namespace {

/// 0, 1, 2, ... for every column. // [B, T] -> [T]
torch::Tensor indices_of(const torch::Tensor& ids) { return ops::indices_of(ids.select(0, 0)); }

}  // namespace

OutputTransformImpl::OutputTransformImpl(Activation activation, const StackOptions& stack)
    : activation_(activation),
      dense_(register_module("dense", Linear(stack.d_model, stack.d_model, stack.bias))) {
  norm_ = make_output_norm(*this, stack);
  parametrize(*this, stack);
}

torch::Tensor OutputTransformImpl::forward(const torch::Tensor& x, const ForwardContext& context) {
  const auto y = ops::hidden_layer(dense_(x), activation_, /*gated=*/false);
  return norm_ ? norm_(y, context) : y;
}

TransformerImpl::TransformerImpl(const TransformerOptions& options, const Vocabulary& vocabulary)
    : options_(options), vocabulary_(vocabulary), can_forget_(can_forget(options)) {
  const auto base = static_cast<double>(base_width_of(options.parametrization, options.d_model));
  embedding_scale_ = options.embedding_scale ? std::sqrt(base) : 1.0;
  const auto head_options = std::visit([](const Head& head) { return head; }, options.output);
  output_scale_ = head_options.scale * base / static_cast<double>(options.d_model);
  output_.softcap = head_options.softcap;
  if (const auto* head = std::get_if<LabelHead>(&options.output)) {
    pool_ = head->pool;
    head_dropout_ = register_module("dropout", Dropout(head->dropout));
  }
  make_tables();
  make_head();
  const auto stack = [&](Side side, const std::string& name, int64_t tokens) {
    auto of_side = stack_of(options, side);
    of_side.vocabulary = tokens;
    return register_module(name, Stack(of_side));
  };
  if (options_.family != Family::decoder_only)
    encoder_ = stack(Side::encoder, "encoder", vocabulary.source);
  if (options_.family != Family::encoder_only)
    decoder_ = stack(Side::decoder, "decoder", vocabulary.target);
  assign_sites(*this);
}

torch::Tensor TransformerImpl::table(const std::string& name, int64_t size, Role role) {
  return register_parameter(name, {size, options_.d_model}, start_of_table(options_, role), role);
}

void TransformerImpl::make_tables() {
  const auto tying = options_.tying;
  if (options_.family != Family::encoder_decoder) {
    const bool encodes = options_.family == Family::encoder_only;
    source_table_ = target_table_ =
        table("embedding", encodes ? vocabulary_.source : vocabulary_.target);
    if (options_.token_types > 0) type_table_ = table("token_type_embedding", options_.token_types);
    output_.weight.dense = tying == Tying::none ? table(pool_ ? "classifier" : "output",
                                                        vocabulary_.target, Role::output)
                                                : target_table_;
    return;
  }
  TORCH_CHECK(!shares_source(tying) || vocabulary_.source == vocabulary_.target,
              "a shared source embedding needs one vocabulary");
  if (one_embedding(tying)) {
    source_table_ = target_table_ = table("embedding", vocabulary_.target);
  } else {
    source_table_ = table("source_embedding", vocabulary_.source);
    target_table_ = table("target_embedding", vocabulary_.target);
  }
  if (tying == Tying::three_way || tying == Tying::target)
    output_.weight.dense = target_table_;
  else
    output_.weight.dense =
        tying == Tying::source ? source_table_ : table("output", vocabulary_.target, Role::output);
}

void TransformerImpl::make_head() {
  const auto* head = std::get_if<LmHead>(&options_.output);
  if (head == nullptr) return;
  const auto side = options_.family == Family::encoder_only ? Side::encoder : Side::decoder;
  if (head->transform)
    transform_ =
        register_module("transform", OutputTransform(*head->transform, stack_of(options_, side)));
  if (head->bias)
    output_.bias =
        register_parameter("output_bias", {vocabulary_.target}, Constant{0}, Role::vector);
}

torch::Tensor TransformerImpl::embed(const torch::Tensor& ids, const torch::Tensor& table,
                                     const torch::Tensor& position) {
  return with_positions(torch::embedding(table, ids) * embedding_scale_, position);  // [B, T, D]
}

torch::Tensor TransformerImpl::type_vectors(const torch::Tensor& ids) const {
  if (!vocabulary_.separator) return type_table_[0];  // [D]
  const auto ends = ids.eq(*vocabulary_.separator).to(torch::kLong);
  const auto types = (ends.cumsum(1) - ends).clamp_max(type_table_.size(0) - 1);
  return torch::embedding(type_table_, types);
}

torch::ScalarType TransformerImpl::compute_type(const ForwardContext& context) const {
  return context.compute_dtype.value_or(output_.weight.dense.scalar_type());
}

torch::Tensor TransformerImpl::documents_of(const torch::Tensor& ids) const {
  return ids.eq(vocabulary_.divider.value()).cumsum(1);
}

StackOutput TransformerImpl::run(Stack& stack, const torch::Tensor& ids, const StackOutput* memory,
                                 ForwardContext context) {
  const auto& table = memory == nullptr ? source_table_ : target_table_;
  context.padding_mask = ids.ne(vocabulary_.pad);
  context.token_ids = ids;
  stack->check(ids.size(1), context);
  const auto position_ids = stack->position_ids(indices_of(ids), context);
  auto positions = stack->positions(position_ids, position_ids);
  stack->fit_rows(positions, position_ids, context.padding_mask);
  if (vocabulary_.divider) positions.divide(documents_of(ids), documents_of(ids));
  auto x = embed(ids, table, positions.embedding());
  if (type_table_.defined()) x = x + type_vectors(ids);
  x = stack->enter(x, context);
  return stack(x.to(compute_type(context)), memory, positions, context);
}

StackOutput TransformerImpl::encode(const torch::Tensor& source, const ForwardContext& context) {
  return run(encoder_, source, nullptr, context);
}

torch::Tensor TransformerImpl::pooled(const StackOutput& encoded) const {
  if (*pool_ == Pool::first) return encoded.output.narrow(1, 0, 1);
  const auto share =
      encoded.padding_mask.unsqueeze(-1).to(encoded.output.scalar_type());  // [B, S, 1]
  return (encoded.output * share).sum(1, /*keepdim=*/true) / share.sum(1, /*keepdim=*/true);
}

ModelOutput TransformerImpl::hidden(const torch::Tensor& source, const torch::Tensor& target,
                                    const ForwardContext& context) {
  if (options_.family == Family::decoder_only) {
    return outputs_of(run(decoder_, target, nullptr, context), context);
  }
  auto encoded = encode(source, context);
  if (options_.family == Family::encoder_only) {
    if (pool_) encoded.output = head_dropout_(pooled(encoded), context);
    return outputs_of(std::move(encoded), context);
  }
  auto decoded = outputs_of(run(decoder_, target, &encoded, context), context);
  auto routings = std::move(encoded.routings);
  std::ranges::move(decoded.routings, std::back_inserter(routings));
  decoded.routings = std::move(routings);
  return decoded;
}

ModelOutput TransformerImpl::outputs_of(StackOutput decoded, ForwardContext context) {
  context.padding_mask = decoded.padding_mask;
  for (auto& x : decoded.ahead) x = input_of_output(x, context);
  return {.hidden = input_of_output(decoded.output, context),
          .ahead = std::move(decoded.ahead),
          .routings = std::move(decoded.routings)};
}

torch::Tensor TransformerImpl::forward(const torch::Tensor& source, const torch::Tensor& target) {
  return project(hidden(source, target).hidden);
}

ops::TargetScores TransformerImpl::score_targets(const torch::Tensor& source,
                                                 const torch::Tensor& target_in,
                                                 const torch::Tensor& target_out) {
  const torch::NoGradGuard no_grad;
  const auto x = hidden(source, target_in).hidden;  // [B, T, D]
  return ops::score_targets(x, output_, target_out, ignored_target(labels(), vocabulary_.pad));
}

torch::Tensor TransformerImpl::input_of_output(const torch::Tensor& x,
                                               const ForwardContext& context) {
  const auto y = transform_ ? transform_(x, context) : x;
  return output_scale_ == 1 ? y : y * output_scale_;
}

torch::Tensor TransformerImpl::project(const torch::Tensor& x) const {
  return ops::capped(ops::linear(x, output_.weight, output_.bias), output_.softcap);
}

void TransformerImpl::prepack(WeightDtype dtype) {
  for (const auto& module : modules()) {
    if (const auto linear = std::dynamic_pointer_cast<LinearImpl>(module)) linear->prepack(dtype);
    if (const auto mixture = std::dynamic_pointer_cast<Mixture>(module)) mixture->prepack();
  }
  output_.weight = output_.weight.prepacked(dtype);
}

DecoderCache TransformerImpl::prefill(const torch::Tensor& source, const ForwardContext& context) {
  TORCH_CHECK(options_.family != Family::encoder_only, "an encoder_only model does not write");
  if (options_.family == Family::encoder_decoder) {
    const auto encoded = encode(source, context);
    return decoder_->init_cache(encoded.output, &encoded, context.ahead);
  }
  // A sum over columns has every row, also in a trace and if there is no column.
  const auto like = (source.sum(1).to(compute_type(context)) * 0)
                        .unsqueeze(1)
                        .unsqueeze(2)
                        .expand({-1, 1, options_.d_model});
  auto cache = decoder_->init_cache(like, nullptr, context.ahead);
  if (vocabulary_.divider) cache.documents = source.narrow(1, 0, 0);
  if (source.size(1) > 0) extend(source, cache, context);
  return cache;
}

ModelOutput TransformerImpl::extend(const torch::Tensor& ids, DecoderCache& cache,
                                    ForwardContext context) {
  TORCH_CHECK(ids.size(1) == 1 || cache.length == 0 || can_forget_,
              "several tokens need an empty cache");
  context.token_ids = ids;
  cache.length += ids.size(1);
  decoder_->check(cache.length, context);
  const auto indices = ops::indices_behind(cache.position_ids, ids.select(0, 0));  // [T]
  const auto next = decoder_->position_ids(indices, context);
  cache.position_ids = torch::cat({cache.position_ids, next});
  auto positions = decoder_->positions(next, cache.position_ids);
  if (cache.documents.defined()) {
    const auto last = cache.documents.slice(1, -1).sum(1, /*keepdim=*/true);  // 0 of an empty cache
    const auto own = documents_of(ids) + last;
    cache.documents = torch::cat({cache.documents, own}, 1);
    positions.divide(cache.documents, own);
  }
  const auto x = decoder_->enter(embed(ids, target_table_, positions.embedding()), context);
  return outputs_of(decoder_->step(x.to(compute_type(context)), cache, positions, context),
                    context);
}

torch::Tensor TransformerImpl::step(const torch::Tensor& last, DecoderCache& cache,
                                    const ForwardContext& context) {
  return project(extend(last.unsqueeze(1), cache, context).hidden.select(1, -1));
}

torch::Tensor TransformerImpl::target_position_ids(const torch::Tensor& ids) const {
  return decoder_->position_ids(indices_of(ids), {});
}

void TransformerImpl::check_length(Side side, int64_t length) const {
  const auto& stack = side == Side::encoder ? encoder_ : decoder_;
  if (stack) stack->check(length, {});
}

int64_t parameter_count(const torch::nn::Module& model) {
  int64_t count = 0;
  for (const auto& item : model.named_parameters())
    if (!is_adapter(item.key())) count += item.value().numel();
  return count;
}

}  // namespace ablate::models
