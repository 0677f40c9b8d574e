#include "models/packed_attention.h"

#include "models/kernel/run.h"
#include "models/kernel/short_attention.h"

namespace ablate::models {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Where query, key and value start: columns of `target` and `source`, the same tensor or two.
struct Columns {
  int64_t query, key, value;
};

template <class T>
kernel::Packed<T> packed(const torch::Tensor& x, int64_t column) {
  return {kernel::pointer<T>(x) + column, x.size(-1)};
}

/// What one attention reads; undefined tensors where it has none.
struct Inputs {
  torch::Tensor target, source;  // packed projections
  torch::Tensor real;            // [B, S]
  torch::Tensor bias;            // [H, T, padded(S)]
  torch::Tensor rows, columns;   // rotation: [2, T, R] and [2, R, padded(T)]
  bool interleaved = false;
};

kernel::RotaryTable rotary(const Inputs& in) {
  if (!in.rows.defined()) return {};
  return {.pairs = in.rows.size(2),
          .interleaved = in.interleaved,
          .cosine = in.rows[0].const_data_ptr<float>(),
          .sine = in.rows[1].const_data_ptr<float>(),
          .cosine_by_pair = in.columns[0].const_data_ptr<float>(),
          .sine_by_pair = in.columns[1].const_data_ptr<float>()};
}

template <class T>
kernel::AttentionInput<T> input(const Inputs& in, Columns columns) {
  return {.query = packed<const T>(in.target, columns.query),
          .key = packed<const T>(in.source, columns.key),
          .value = packed<const T>(in.source, columns.value),
          .real = in.real.defined() ? in.real.const_data_ptr<bool>() : nullptr,
          .bias = in.bias.defined() ? in.bias.const_data_ptr<float>() : nullptr,
          .rotary = rotary(in)};
}

kernel::AttentionShape shape_of(const torch::Tensor& target, const torch::Tensor& source,
                                const Heads& heads, bool causal) {
  return {.heads = heads.count,
          .queries = target.size(1),
          .keys = source.size(1),
          .d_k = heads.d_k,
          .d_v = heads.d_v,
          .causal = causal};
}

struct Output {
  torch::Tensor output, probabilities;
};

Output attend(const Inputs& in, const Columns& columns, const kernel::AttentionShape& shape) {
  const int64_t batch = in.target.size(0);
  auto output = torch::empty({batch, shape.queries, shape.heads * shape.d_v},
                             in.target.options().requires_grad(false));
  auto probabilities = torch::empty({batch, shape.heads, shape.queries, kernel::padded(shape.keys)},
                                    output.options().dtype(torch::kFloat));
  kernel::with_type(in.target.scalar_type(), [&]<class T>(T) {
    const kernel::Attention<T> arguments{.shape = shape,
                                         .input = input<T>(in, columns),
                                         .output = packed<T>(output, 0),
                                         .probabilities = probabilities.data_ptr<float>()};
    at::parallel_for(0, batch * shape.heads, 16,
                     [&](int64_t begin, int64_t end) { kernel::attention(begin, end, arguments); });
  });
  return {output, probabilities};
}

/// What a backward pass needs beside its inputs.
struct Incoming {
  torch::Tensor output, probabilities;
};

/// Writes the gradients of query, key and value into their columns; `bias` is undefined or
/// [parts, H, T, padded(S)] zeros, one part for each of a fixed number of threads.
struct Gradients {
  torch::Tensor target, source, bias;
};

void attend_backward(const Inputs& in, const Incoming& incoming, const Columns& columns,
                     const kernel::AttentionShape& shape, const Gradients& gradients) {
  const int64_t items = in.target.size(0) * shape.heads;
  const int64_t parts = std::min<int64_t>(items, at::get_num_threads());
  kernel::with_type(in.target.scalar_type(), [&]<class T>(T) {
    const kernel::AttentionGradient<T> arguments{
        .shape = shape,
        .input = input<T>(in, columns),
        .output_gradient = packed<const T>(incoming.output, 0),
        .probabilities = incoming.probabilities.const_data_ptr<float>(),
        .query_gradient = packed<T>(gradients.target, columns.query),
        .key_gradient = packed<T>(gradients.source, columns.key),
        .value_gradient = packed<T>(gradients.source, columns.value),
        .bias_gradient = nullptr};
    at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        auto mine = arguments;
        if (gradients.bias.defined()) mine.bias_gradient = gradients.bias[part].data_ptr<float>();
        kernel::attention_gradient(items * part / parts, items * (part + 1) / parts, mine);
      }
    });
  });
}

/// What is no input of the gradient; a mask inside, since autograd takes no undefined input.
struct Settings {
  const Heads& heads;
  bool causal = false;
  torch::Tensor real;  // [B, S] or undefined
  Rotation rotation;
};

void remember(AutogradContext* context, const Settings& settings) {
  const auto& heads = settings.heads;
  context->saved_data["heads"] =
      std::vector<int64_t>{heads.count, heads.d_k, heads.d_v, settings.causal ? 1 : 0};
}

kernel::AttentionShape recall(AutogradContext* context, const variable_list& saved) {
  const auto numbers = context->saved_data["heads"].toIntVector();
  return {.heads = numbers[0],
          .queries = saved[0].size(1),
          .keys = saved[1].size(1),
          .d_k = numbers[1],
          .d_v = numbers[2],
          .causal = numbers[3] != 0};
}

Columns self_columns(const kernel::AttentionShape& s) {
  return {.query = 0, .key = s.heads * s.d_k, .value = 2 * s.heads * s.d_k};
}
Columns cross_columns(const kernel::AttentionShape& s) {
  return {.query = 0, .key = 0, .value = s.heads * s.d_k};
}

Inputs self_inputs(const torch::Tensor& qkv, const torch::Tensor& bias, const Settings& settings) {
  Inputs in{.target = qkv, .source = qkv, .real = settings.real};
  const int64_t length = qkv.size(1), behind = kernel::padded(length) - length;
  if (bias.numel() > 0)
    in.bias = torch::constant_pad_nd(bias.detach().to(torch::kFloat), {0, behind}).contiguous();
  if (settings.rotation.cosine.defined()) {
    const auto table = torch::stack({settings.rotation.cosine, settings.rotation.sine});
    in.rows = table.to(torch::kFloat).contiguous();
    in.columns = torch::constant_pad_nd(in.rows.transpose(1, 2), {0, behind}).contiguous();
    in.interleaved = settings.rotation.layout == RotaryLayout::interleaved;
  }
  return in;
}

/// `bias` [H, T, T], or empty where there is none.
struct PackedSelf : torch::autograd::Function<PackedSelf> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& qkv,
                               const torch::Tensor& bias, const Settings& settings) {
    const auto in = self_inputs(qkv.contiguous(), bias, settings);
    const auto shape = shape_of(in.target, in.target, settings.heads, settings.causal);
    const auto result = attend(in, self_columns(shape), shape);
    remember(context, settings);
    context->saved_data["interleaved"] = in.interleaved;
    context->saved_data["bias"] = bias.requires_grad();
    context->save_for_backward(
        {in.target, in.target, in.real, result.probabilities, in.bias, in.rows, in.columns});
    return result.output;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto shape = recall(context, saved);
    const Inputs in{.target = saved[0],
                    .source = saved[0],
                    .real = saved[2],
                    .bias = saved[4],
                    .rows = saved[5],
                    .columns = saved[6],
                    .interleaved = context->saved_data["interleaved"].toBool()};
    auto gradient = torch::empty_like(saved[0]);
    torch::Tensor bias;
    if (context->saved_data["bias"].toBool())
      bias = torch::zeros(
          {at::get_num_threads(), shape.heads, shape.queries, kernel::padded(shape.keys)},
          saved[4].options());
    attend_backward(in, {gradients[0].contiguous(), saved[3]}, self_columns(shape), shape,
                    {gradient, gradient, bias});
    if (bias.defined()) bias = bias.sum(0).narrow(-1, 0, shape.keys);
    return {gradient, bias, {}};
  }
};

struct PackedCross : torch::autograd::Function<PackedCross> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& query,
                               const torch::Tensor& key_value, const Settings& settings) {
    const auto target = query.contiguous(), source = key_value.contiguous();
    const auto shape = shape_of(target, source, settings.heads, settings.causal);
    const auto result = attend({.target = target, .source = source, .real = settings.real},
                               cross_columns(shape), shape);
    remember(context, settings);
    context->save_for_backward({target, source, settings.real, result.probabilities});
    return result.output;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto shape = recall(context, saved);
    auto target = torch::empty_like(saved[0]), source = torch::empty_like(saved[1]);
    attend_backward({.target = saved[0], .source = saved[1], .real = saved[2]},
                    {gradients[0].contiguous(), saved[3]}, cross_columns(shape), shape,
                    {.target = target, .source = source});
    return {target, source, {}};
  }
};

torch::Tensor contiguous_mask(const torch::Tensor& real) {
  return real.defined() ? real.contiguous() : real;
}

}  // namespace

torch::Tensor packed_self_attention(const torch::Tensor& qkv, const SelfScores& scores,
                                    const Heads& heads) {
  const auto& bias = scores.position.bias;
  return PackedSelf::apply(
      qkv, bias.defined() ? bias : torch::empty({0}, qkv.options().dtype(torch::kFloat)),
      Settings{heads, scores.causal, contiguous_mask(scores.real), scores.position.rotation});
}

torch::Tensor packed_cross_attention(const torch::Tensor& query, const torch::Tensor& key_value,
                                     const torch::Tensor& real, const Heads& heads) {
  return PackedCross::apply(query, key_value, Settings{heads, false, contiguous_mask(real), {}});
}

}  // namespace ablate::models
