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

/// What one pass of a stack knows of positions.
struct StackPositions {
  std::vector<PositionTerms> schemes;         // the first one serves the first layer
  std::vector<ops::AttentionPosition> views;  // of the schemes, through the layers' windows

  /// What is added to the embeddings before the first layer; undefined: nothing. // [T, D]
  const torch::Tensor& embedding() const { return schemes.front().embedding; }
};

/// A place in a stack and the layer that stands there.
struct StackEntry {
  Layer layer;
  size_t scheme, view;  // which of the stack's it has
  bool starts_scheme;   // no layer before it has this scheme
  int64_t score_index;  // different layers before this one whose scores the scheme serves
  int64_t repeat;       // how often the layer has been run before
};

/// Layers over embedded sequences; a final norm where norms come first.
class StackImpl : public Module {
 public:
  explicit StackImpl(const StackOptions& options);

  /// `memory` is null where the stack has no cross-attention. // [B, T, D]
  StackOutput forward(torch::Tensor x, const StackOutput* memory, const StackPositions& positions,
                      const ForwardContext& context);
  /// `like` [B, T, D] gives batch, type and device.
  DecoderCache init_cache(const torch::Tensor& like, const StackOutput* memory);
  torch::Tensor step(torch::Tensor x, DecoderCache& cache, const StackPositions& positions,
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
  StackPositions positions(const torch::Tensor& query, const torch::Tensor& key) const;

 private:
  /// What layers see of a scheme: no farther than a window, if they have one.
  struct View {
    size_t scheme;
    std::optional<int64_t> window;
    int64_t heads;  // that the window is for

    bool operator==(const View&) const = default;
  };

  void make_views(const StackOptions& options, const PositionPlan& plan);
  void make_entries(const StackOptions& options, const PositionPlan& plan);

  std::vector<std::shared_ptr<Position>> schemes_;
  std::shared_ptr<PositionIds> position_ids_;
  Dropout dropout_{nullptr};
  std::vector<View> views_;
  std::vector<size_t> view_of_;  // of each different layer
  std::vector<StackEntry> entries_;
  Norm norm_{nullptr};
};
TORCH_MODULE(Stack);

/// x plus position vectors, where there are any. // [B, T, D], [T, D]
torch::Tensor with_positions(const torch::Tensor& x, const torch::Tensor& embedding);

}  // namespace ablate::models
