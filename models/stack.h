#pragma once

#include <vector>

#include "models/dropout.h"
#include "models/layer.h"
#include "models/position/position.h"
#include "models/position/position_ids.h"

namespace ablate::models {

/// What decoding keeps between steps.
struct DecoderCache {
  std::vector<LayerCache> layers;
  torch::Tensor memory_mask;   // of the memory's rows; undefined: there is no memory // [M, S]
  torch::Tensor position_ids;  // of the tokens decoded so far // [T]
  int64_t length = 0;          // their number, for length checks
  /// The row of the memory that each sequence reads, on the CPU; undefined: its own. // [B]
  torch::Tensor memory_rows = {};

  /// Sequence i becomes what sequence order[i] was. REQUIRES: `order` lies on the CPU. // [B']
  void reorder(const torch::Tensor& order);
};

/// A place in a stack and the layer that stands there.
struct Depth {
  Layer layer;
  MixerChoice mixer;
  int64_t scored;  // different layers before this one whose scores the same scheme acts on
  int64_t round;   // how often the layer has been run before
};

/// Layers over embedded sequences; a final norm where norms come first.
class StackImpl : public Module {
 public:
  explicit StackImpl(const StackOptions& options);

  /// `memory` is null where the stack has no cross-attention. // [B, T, D]
  StackOutput forward(torch::Tensor x, const StackOutput* memory, const PositionTerms& position,
                      const ForwardContext& context);
  /// `like` [B, T, D] gives batch, type and device.
  DecoderCache init_cache(const torch::Tensor& like, const StackOutput* memory);
  torch::Tensor step(torch::Tensor x, DecoderCache& cache, const PositionTerms& position,
                     const ForwardContext& context);  // [B, T, D]
  /// Embedding sums on their way into the first layer. // [B, T, D] -> [B, T, D]
  torch::Tensor drop_embeddings(const torch::Tensor& x, const ForwardContext& context) {
    return dropout_(x, context);
  }
  /// Ids of the tokens with these indices. // [T] -> [T]
  torch::Tensor position_ids(const torch::Tensor& indices, const ForwardContext& context) const {
    return (*position_ids_)(indices, context);
  }
  /// Throws LengthError where a sequence of `length` has no positions.
  void check(int64_t length, const ForwardContext& context) const;
  /// What the layers know of queries at `query` in a sequence at `key`. // [T], [S]
  PositionTerms position_terms(const torch::Tensor& query, const torch::Tensor& key) const;

 private:
  std::shared_ptr<Position> position_;
  std::shared_ptr<Position> other_position_;  // null: the layers with the other mixer have the same
  std::shared_ptr<PositionIds> position_ids_;
  Dropout dropout_;
  AttentionOptions attention_;
  std::optional<AttentionOptions> other_attention_;  // where a pattern has it
  std::vector<Depth> depths_;
  Norm norm_{nullptr};
};
TORCH_MODULE(Stack);

/// x plus position vectors, where there are any. // [B, T, D], [T, D]
torch::Tensor with_positions(const torch::Tensor& x, const torch::Tensor& embedding);

}  // namespace ablate::models
