// Builds a small language model from ablate::models, passes one batch through it, and prints the
// result.
#include <iostream>

#include "models/initialization.h"
#include "models/transformer.h"

int main() {
  using namespace ablate::models;
  const TransformerOptions options{
      .family = Family::decoder_only,
      .d_model = 64,
      .layers = 2,
      .layer = {.attention = MultiHead{.heads = 4, .key_value_heads = 2},
                .feed_forward = DenseFeedForward{.d_hidden = 128, .activation = Activation::silu},
                .position = Rotary{},
                .norm = {.kind = NormKind::rms, .placement = NormPlacement::pre}},
      .bias = false,
  };
  Transformer model(options, Vocabulary{.source = 100, .target = 100, .pad = 0});
  initialize(*model, /*seed=*/1);
  model->eval();
  const torch::NoGradGuard no_grad;
  const auto ids = torch::arange(1, 15).view({2, 7});
  const auto logits = model(torch::Tensor(), ids);  // [B, T, V]
  std::cout << "logits " << logits.sizes() << ", finite: " << std::boolalpha
            << logits.isfinite().all().item<bool>() << ", parameters: " << parameter_count(*model)
            << "\n";
}
