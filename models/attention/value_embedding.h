#pragma once

#include "models/attention/stages.h"

namespace ablate::models {

/// A layer has a vector e of every token, and a position's value becomes v + 2 sigmoid(W x) e, with
/// a factor for each head of keys and values (Karpathy 2026, nanochat; without the factor Jordan et
/// al. 2024, modded-nanogpt).
class ValueEmbeddingStage : public Stage {
 public:
  ValueEmbeddingStage(Module& owner, const StagePlace& place)
      : table_(owner.register_parameter(
            "value_embedding", {place.stack.vocabulary, place.heads().value_width()},
            Normal{1 / std::sqrt(place.stack.base_width())}, Role::embedding)),
        gate_(owner.register_module("value_gate",
                                    place.number_of_heads(place.heads().key_values, false))) {}

  void project(Projections& own, const StagePass& pass) override {
    auto& value = *own.value();
    const auto of_tokens = torch::embedding(table_, pass.context.token_ids)
                               .to(value.scalar_type())
                               .unflatten(-1, {value.size(-2), -1});          // [B, T, G, W]
    value = value + of_tokens * (gate_(pass.x).sigmoid() * 2).unsqueeze(-1);  // [B, T, G, 1]
  }

 private:
  torch::Tensor table_;  // [tokens, GW]
  Linear gate_;
};

}  // namespace ablate::models
