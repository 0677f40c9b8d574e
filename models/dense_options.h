#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace ablate::models {

/// relu2 is the square of relu (So et al. 2021, Primer).
enum class Activation { relu, gelu, silu, relu2, sigmoid, identity };

constexpr auto names(Activation) {
  return std::to_array<std::pair<Activation, std::string_view>>(
      {{Activation::relu, "relu"},
       {Activation::gelu, "gelu"},
       {Activation::silu, "silu"},
       {Activation::relu2, "relu2"},
       {Activation::sigmoid, "sigmoid"},
       {Activation::identity, "identity"}});
}

/// Position-wise feed-forward (Vaswani et al. 2017, section 3.3); gated: Shazeer 2020.
struct DenseFeedForward {
  static constexpr std::string_view name = "dense";
  int64_t d_hidden = 2048;
  Activation activation = Activation::relu;
  bool gated = false;
  bool shared = false;

  static void fields(auto& o, auto&& visit) {
    visit("d_hidden", o.d_hidden, "width of the hidden layer");
    visit("activation", o.activation,
          "relu, gelu, silu, relu2 (the square of relu), sigmoid or identity");
    visit(
        "gated", o.gated,
        "multiply the activation by a second projection of the input (silu: SwiGLU, sigmoid: GLU, "
        "identity: bilinear)");
    visit("shared", o.shared, "one feed-forward for all layers of the stack (Pires et al. 2023)");
  }
  static void rules(const DenseFeedForward& o, auto&& require) {
    require(o.d_hidden >= 1 && o.d_hidden <= 1'048'576, "d_hidden", "must be from 1 to 1048576");
  }
};

}  // namespace ablate::models
