#include "models/kernel/short_attention.h"
#include "models/kernel/single_attention.h"
#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops::cpu {
namespace {

/// Longest sequence for which this beats SDPA's flash path on a CPU (bench/README.md), which drops
/// no weights: with dropout this beats LibTorch's operators at any length.
constexpr int64_t kLongestPacked = 128;

/// Items of a task: one head of one sequence is little work.
constexpr int64_t kItemGrain = 16;

/// All inputs of one attention in the kernel's layout; undefined tensors if it has none.
struct Operands {
  torch::Tensor query, key_value;  // one and the same tensor, or [B, T, HK] and [B, S, H(K + W)]
  torch::Tensor padding_mask;      // [B, S]
  torch::Tensor bias;              // [H, T, padded(S)]
  torch::Tensor angles;            // cosine and sine // [2, T, R]
  bool interleaved = false;
  kernel::AttentionShape shape;
  DropoutStream dropout;

  int64_t key_column() const { return query.is_same(key_value) ? shape.heads * shape.d_k : 0; }
  int64_t value_column() const { return key_column() + shape.heads * shape.d_k; }
  int64_t items() const { return query.size(0) * shape.heads; }
};

Operands operands_of(const torch::Tensor& query, const torch::Tensor& key_value,
                     const torch::Tensor& bias, const AttentionInput& in) {
  const auto& rotation = in.position.rotation;
  Operands all{
      .query = query,
      .key_value = key_value,
      .padding_mask = in.padding_mask.defined() ? in.padding_mask.contiguous() : torch::Tensor(),
      .interleaved = rotation.interleaved,
      .shape = {.heads = in.heads.count,
                .queries = query.size(1),
                .keys = key_value.size(1),
                .d_k = in.heads.d_k,
                .d_v = in.heads.d_v,
                .causal = in.causal},
      .dropout = in.dropout};
  if (bias.numel() > 0) {
    const int64_t behind = kernel::padded(bias.size(-1)) - bias.size(-1);
    all.bias = torch::constant_pad_nd(bias.to(torch::kFloat), {0, behind}).contiguous();
  }
  if (rotation.cosine.defined())
    all.angles = torch::stack({rotation.cosine, rotation.sine}).to(torch::kFloat).contiguous();
  return all;
}

template <class T>
kernel::Packed<T> columns(const torch::Tensor& x, int64_t column) {
  return {pointer<T>(x) + column, x.size(-1)};
}

kernel::RotaryTable rotary(const Operands& in) {
  if (!in.angles.defined()) return {};
  const float* cosine = in.angles.const_data_ptr<float>();
  return {.pairs = in.angles.size(2),
          .interleaved = in.interleaved,
          .cosine = cosine,
          .sine = cosine + in.angles.stride(0)};
}

template <class T>
kernel::AttentionInput<T> kernel_input(const Operands& in) {
  return {
      .query = columns<const T>(in.query, 0),
      .key = columns<const T>(in.key_value, in.key_column()),
      .value = columns<const T>(in.key_value, in.value_column()),
      .padding_mask = in.padding_mask.defined() ? in.padding_mask.const_data_ptr<bool>() : nullptr,
      .bias = in.bias.defined() ? in.bias.const_data_ptr<float>() : nullptr,
      .rotary = rotary(in)};
}

struct Result {
  torch::Tensor values, probabilities;  // [B, T, HW], [B, H, T, padded(S)]
};

Result run_forward(const Operands& in) {
  const auto& shape = in.shape;
  auto values = torch::empty({in.query.size(0), shape.queries, shape.heads * shape.d_v},
                             in.query.options().requires_grad(false));
  auto probabilities =
      torch::empty({in.query.size(0), shape.heads, shape.queries, kernel::padded(shape.keys)},
                   values.options().dtype(torch::kFloat));
  with_type(in.query.scalar_type(), [&]<class T>(T) {
    const kernel::Attention<T> arguments{.shape = shape,
                                         .input = kernel_input<T>(in),
                                         .output = columns<T>(values, 0),
                                         .probabilities = probabilities.data_ptr<float>(),
                                         .dropout = mask_of(in.dropout)};
    at::parallel_for(0, in.items(), kItemGrain,
                     [&](int64_t begin, int64_t end) { kernel::attention(begin, end, arguments); });
  });
  return {values, probabilities};
}

/// Gradients of queries, keys and values in their columns; `bias` is undefined or zeros
/// [parts, H, T, padded(S)], one part for each of a fixed number of threads.
struct Gradients {
  torch::Tensor query, key_value, bias;
};

void run_backward(const Operands& in, const torch::Tensor& grad_output,
                  const torch::Tensor& probabilities, const Gradients& gradients) {
  const int64_t parts = std::min<int64_t>(in.items(), at::get_num_threads());
  float* bias = gradients.bias.defined() ? gradients.bias.data_ptr<float>() : nullptr;
  const int64_t part_size = bias == nullptr ? 0 : gradients.bias.stride(0);
  with_type(in.query.scalar_type(), [&]<class T>(T) {
    const kernel::AttentionGradient<T> arguments{
        .shape = in.shape,
        .input = kernel_input<T>(in),
        .output_gradient = columns<const T>(grad_output, 0),
        .probabilities = probabilities.const_data_ptr<float>(),
        .query_gradient = columns<T>(gradients.query, 0),
        .key_gradient = columns<T>(gradients.key_value, in.key_column()),
        .value_gradient = columns<T>(gradients.key_value, in.value_column()),
        .bias_gradient = nullptr,
        .dropout = mask_of(in.dropout)};
    at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        auto mine = arguments;
        if (bias != nullptr) mine.bias_gradient = bias + part * part_size;
        kernel::attention_gradient(in.items() * part / parts, in.items() * (part + 1) / parts,
                                   mine);
      }
    });
  });
}

void save(AutogradContext* context, const Operands& in, const torch::Tensor& probabilities) {
  context->save_for_backward(
      {in.query, in.key_value, in.padding_mask, in.bias, in.angles, probabilities});
  context->saved_data["own"] = in.query.is_same(in.key_value);
  context->saved_data["interleaved"] = in.interleaved;
  context->saved_data["causal"] = in.shape.causal;
  context->saved_data["rate"] = in.dropout.rate;
  context->saved_data["seed"] = static_cast<int64_t>(in.dropout.noise.seed);
  context->saved_data["heads"] = std::vector<int64_t>{in.shape.heads, in.shape.d_k, in.shape.d_v};
}

Operands restore(AutogradContext* context, const variable_list& saved) {
  const auto heads = context->saved_data["heads"].toIntVector();
  const auto& key_value = context->saved_data["own"].toBool() ? saved[0] : saved[1];
  return {
      .query = saved[0],
      .key_value = key_value,
      .padding_mask = saved[2],
      .bias = saved[3],
      .angles = saved[4],
      .interleaved = context->saved_data["interleaved"].toBool(),
      .shape = {.heads = heads[0],
                .queries = saved[0].size(1),
                .keys = key_value.size(1),
                .d_k = heads[1],
                .d_v = heads[2],
                .causal = context->saved_data["causal"].toBool()},
      .dropout = {.rate = context->saved_data["rate"].toDouble(),
                  .noise = {.seed = static_cast<uint64_t>(context->saved_data["seed"].toInt())}}};
}

/// `key_value` is `query` if keys and values follow the queries in it; `bias` is [H, T, S] or
/// empty, since autograd takes no undefined input.
struct PackedAttention : torch::autograd::Function<PackedAttention> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& query,
                               const torch::Tensor& key_value, const torch::Tensor& bias,
                               const AttentionInput& input) {
    const auto in = operands_of(query, key_value, bias, input);
    const auto result = run_forward(in);
    save(context, in, result.probabilities);
    context->saved_data["bias_gradient"] = bias.requires_grad();
    return result.values;
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    refuse_second_derivative("attention");
    const auto saved = context->get_saved_variables();
    const auto in = restore(context, saved);
    const bool own = in.query.is_same(in.key_value);
    Gradients gradients{.query = torch::empty_like(in.query)};
    gradients.key_value = own ? gradients.query : torch::empty_like(in.key_value);
    const auto& shape = in.shape;
    if (context->saved_data["bias_gradient"].toBool())
      gradients.bias = torch::zeros(
          {at::get_num_threads(), shape.heads, shape.queries, kernel::padded(shape.keys)},
          in.bias.options());
    run_backward(in, grad_outputs[0].contiguous(), saved[5], gradients);
    if (gradients.bias.defined()) gradients.bias = gradients.bias.sum(0).narrow(-1, 0, shape.keys);
    return {gradients.query, own ? torch::Tensor() : gradients.key_value, gradients.bias, {}};
  }
};

}  // namespace

bool serves_packed(const AttentionInput& in) {
  const int64_t keys = in.key_value.defined() ? in.key_value.size(1) : in.query.size(1);
  return !in.wants_probabilities && in.position.content == nullptr &&
         !in.position.documents.defined() && in.weighting.is_softmax() && trains_on_cpu(in.query) &&
         (in.dropout.rate > 0 || std::max(in.query.size(1), keys) <= kLongestPacked);
}

torch::Tensor packed_attention(const AttentionInput& in) {
  const auto query = in.query.contiguous();
  const auto key_value = in.key_value.defined() ? in.key_value.contiguous() : query;
  const auto& bias = in.position.bias;
  return PackedAttention::apply(
      query, key_value,
      bias.defined() ? bias : torch::empty({0}, query.options().dtype(torch::kFloat)), in);
}

namespace {

kernel::HeadsView view_of(const torch::Tensor& x) {
  return {x.const_data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}

}  // namespace

bool serves_single_query(const AttentionInput& in) {
  return !in.wants_probabilities && in.position.content == nullptr &&
         !in.position.documents.defined() && in.weighting.is_softmax() && in.query.size(1) == 1 &&
         infers_on_cpu(in.query) && in.query.is_contiguous();
}

torch::Tensor single_query_attention(const torch::Tensor& query, const KVCache& cache,
                                     const AttentionInput& in) {
  const int64_t rows = query.size(0), heads = query.size(1), width = in.heads.d_v;
  std::vector<kernel::KeyValueBlock> blocks;
  int64_t keys = 0;
  for (const auto& [key, value] : cache.blocks) {
    blocks.push_back({view_of(key), view_of(value), key.size(2)});
    keys += key.size(2);
  }
  auto output = torch::empty({rows, 1, heads * width}, query.options());
  const auto index = cache.beam_index.defined() ? cache.beam_index.contiguous() : torch::Tensor();
  const auto mask = in.padding_mask.defined() ? in.padding_mask.contiguous() : torch::Tensor();
  const auto bias = in.position.bias.defined() ? in.position.bias.to(torch::kFloat).contiguous()
                                               : torch::Tensor();
  const kernel::SingleAttention attention{
      .query = view_of(query),
      .blocks = blocks,
      .rows = index.defined() ? index.const_data_ptr<int64_t>() : nullptr,
      .padding_mask = mask.defined() ? mask.const_data_ptr<bool>() : nullptr,
      .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
      .output = output.mutable_data_ptr<float>(),
      .heads = heads,
      .group = heads / in.heads.key_values,
      .keys = keys,
      .d_k = in.heads.d_k,
      .d_v = width};
  at::parallel_for(0, rows * heads, grain(keys * (attention.d_k + width)),
                   [&](int64_t begin, int64_t end) { kernel::attend(attention, begin, end); });
  return output;
}

}  // namespace ablate::models::ops::cpu
