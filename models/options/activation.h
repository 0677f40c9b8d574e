#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "options/enumeration.h"

namespace ablate::models {

// An activation is a struct here, which has
//   scaled  factor * f(x) of one number, with the functions of `math`, for the kernels of the CPU
//   of      f(x) of a tensor, by LibTorch's function, which is found by its argument
// and its place among the words of `Activation` and the types of `Activations`. A new one is added
// in this file alone.

ABLATE_ENUM(Activation, relu, gelu, gelu_tanh, silu, relu2, sigmoid, identity);

constexpr auto abouts(Activation) {
  return std::to_array<std::string_view>(
      {"the larger of a number and 0 (Nair & Hinton 2010)",
       "a number times the share of a normal distribution below it (Hendrycks & Gimpel 2016, arXiv "
       "1606.08415)",
       "gelu_new, the approximation of gelu by tanh that GPT-2 has (Hendrycks & Gimpel 2016, arXiv "
       "1606.08415)",
       "a number times its sigmoid, also called swish (Ramachandran et al. 2017, arXiv "
       "1710.05941); gated, it is SwiGLU (Shazeer 2020, arXiv 2002.05202)",
       "the square of relu (So et al. 2021, Primer, arXiv 2109.08668)", "the logistic function",
       "the number itself; gated, the layer is bilinear"});
}

namespace activations {

#define ABLATE_NUMBER [[gnu::always_inline]] static float

struct Relu {
  ABLATE_NUMBER scaled(float x, float factor, auto) { return (x > 0 ? x : 0.0F) * factor; }
  static auto of(const auto& x) { return relu(x); }
};

struct Gelu {
  ABLATE_NUMBER scaled(float x, float factor, auto math) {
    return x * (0.5F * factor * (1.0F + math.error_function(x * 0.70710678F)));
  }
  static auto of(const auto& x) { return gelu(x); }
};

/// Computed by (1 + tanh z) / 2 = sigmoid(2 z).
struct GeluTanh {
  ABLATE_NUMBER scaled(float x, float factor, auto math) {
    return x * (factor / (1.0F + math.exponential(-1.5957691F * (x + 0.044715F * x * x * x))));
  }
  static auto of(const auto& x) { return gelu(x, "tanh"); }
};

struct Silu {
  ABLATE_NUMBER scaled(float x, float factor, auto math) {
    return x * (factor / (1.0F + math.exponential(-x)));
  }
  static auto of(const auto& x) { return silu(x); }
};

struct Relu2 {
  ABLATE_NUMBER scaled(float x, float factor, auto) { return x * ((x > 0 ? x : 0.0F) * factor); }
  static auto of(const auto& x) { return relu(x).square(); }
};

struct Sigmoid {
  ABLATE_NUMBER scaled(float x, float factor, auto math) {
    return factor / (1.0F + math.exponential(-x));
  }
  static auto of(const auto& x) { return sigmoid(x); }
};

struct Identity {
  ABLATE_NUMBER scaled(float x, float factor, auto) { return x * factor; }
  static auto of(const auto& x) { return x; }
};

#undef ABLATE_NUMBER

}  // namespace activations

using Activations =
    std::tuple<activations::Relu, activations::Gelu, activations::GeluTanh, activations::Silu,
               activations::Relu2, activations::Sigmoid, activations::Identity>;
static_assert(std::tuple_size_v<Activations> == names(Activation{}).size());

/// Calls `run` with the struct of an activation.
template <class Run>
[[gnu::always_inline]] inline void with_activation(Activation activation, Run&& run) {
  [&]<size_t... Index>(std::index_sequence<Index...>) __attribute__((always_inline)) {
    const auto call = [&]<class Held>(bool is_it, Held held) __attribute__((always_inline)) {
      if (is_it) run(held);
    };
    (call(static_cast<size_t>(activation) == Index, std::tuple_element_t<Index, Activations>{}),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Activations>>{});
}

}  // namespace ablate::models
