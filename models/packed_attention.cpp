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

template <class T>
kernel::AttentionInput<T> input(const torch::Tensor& target, const torch::Tensor& source,
                                const torch::Tensor& real, Columns columns) {
  return {.query = packed<const T>(target, columns.query),
          .key = packed<const T>(source, columns.key),
          .value = packed<const T>(source, columns.value),
          .real = real.defined() ? real.const_data_ptr<bool>() : nullptr};
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

void for_items(int64_t batch, int64_t heads, const std::function<void(int64_t, int64_t)>& body) {
  at::parallel_for(0, batch * heads, 16, body);
}

struct Output {
  torch::Tensor output, probabilities;
};

Output attend(const torch::Tensor& target, const torch::Tensor& source, const torch::Tensor& real,
              const Columns& columns, const kernel::AttentionShape& shape) {
  auto output = torch::empty({target.size(0), shape.queries, shape.heads * shape.d_v},
                             target.options().requires_grad(false));
  auto probabilities =
      torch::empty({target.size(0), shape.heads, shape.queries, kernel::padded(shape.keys)},
                   output.options().dtype(torch::kFloat));
  kernel::with_type(target.scalar_type(), [&]<class T>(T) {
    const kernel::Attention<T> arguments{.shape = shape,
                                         .input = input<T>(target, source, real, columns),
                                         .output = packed<T>(output, 0),
                                         .probabilities = probabilities.data_ptr<float>()};
    for_items(target.size(0), shape.heads,
              [&](int64_t begin, int64_t end) { kernel::attention(begin, end, arguments); });
  });
  return {output, probabilities};
}

/// Writes the gradients of query, key and value into their columns.
struct Gradients {
  torch::Tensor target, source;
};

void attend_backward(const variable_list& saved, const torch::Tensor& incoming,
                     const Columns& columns, const kernel::AttentionShape& shape,
                     const Gradients& gradients) {
  const auto &target = saved[0], &source = saved[1], &real = saved[2], &probabilities = saved[3];
  kernel::with_type(target.scalar_type(), [&]<class T>(T) {
    const kernel::AttentionGradient<T> arguments{
        .shape = shape,
        .input = input<T>(target, source, real, columns),
        .output_gradient = packed<const T>(incoming, 0),
        .probabilities = probabilities.const_data_ptr<float>(),
        .query_gradient = packed<T>(gradients.target, columns.query),
        .key_gradient = packed<T>(gradients.source, columns.key),
        .value_gradient = packed<T>(gradients.source, columns.value)};
    for_items(target.size(0), shape.heads, [&](int64_t begin, int64_t end) {
      kernel::attention_gradient(begin, end, arguments);
    });
  });
}

/// What is no input of the gradient; a mask inside, since autograd takes no undefined input.
struct Settings {
  const Heads& heads;
  bool causal;
  torch::Tensor real;  // [B, S] or undefined
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

struct PackedSelf : torch::autograd::Function<PackedSelf> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& qkv,
                               const Settings& settings) {
    const auto input = qkv.contiguous();
    const auto shape = shape_of(input, input, settings.heads, settings.causal);
    const auto result = attend(input, input, settings.real, self_columns(shape), shape);
    remember(context, settings);
    context->save_for_backward({input, input, settings.real, result.probabilities});
    return result.output;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto shape = recall(context, saved);
    auto gradient = torch::empty_like(saved[0]);
    attend_backward(saved, gradients[0].contiguous(), self_columns(shape), shape,
                    {gradient, gradient});
    return {gradient, {}};
  }
};

struct PackedCross : torch::autograd::Function<PackedCross> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& query,
                               const torch::Tensor& key_value, const Settings& settings) {
    const auto target = query.contiguous(), source = key_value.contiguous();
    const auto shape = shape_of(target, source, settings.heads, settings.causal);
    const auto result = attend(target, source, settings.real, cross_columns(shape), shape);
    remember(context, settings);
    context->save_for_backward({target, source, settings.real, result.probabilities});
    return result.output;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto shape = recall(context, saved);
    auto target = torch::empty_like(saved[0]), source = torch::empty_like(saved[1]);
    attend_backward(saved, gradients[0].contiguous(), cross_columns(shape), shape,
                    {target, source});
    return {target, source, {}};
  }
};

torch::Tensor contiguous_mask(const torch::Tensor& real) {
  return real.defined() ? real.contiguous() : real;
}

}  // namespace

torch::Tensor packed_self_attention(const torch::Tensor& qkv, const torch::Tensor& real,
                                    const Heads& heads, bool causal) {
  return PackedSelf::apply(qkv, Settings{heads, causal, contiguous_mask(real)});
}

torch::Tensor packed_cross_attention(const torch::Tensor& query, const torch::Tensor& key_value,
                                     const torch::Tensor& real, const Heads& heads) {
  return PackedCross::apply(query, key_value, Settings{heads, false, contiguous_mask(real)});
}

}  // namespace ablate::models
