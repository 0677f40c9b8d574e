#pragma once

#include <vector>

#include "models/options/position_plan.h"
#include "models/position/position.h"
#include "models/residual.h"
#include "models/stack/layer.h"
#include "models/stack/residual_mix.h"

namespace ablate::models {

/// The state of decoding between steps.
struct DecoderCache {
  std::vector<LayerCache> layers;  // those of the further heads last
  torch::Tensor memory_mask;       // of the memory's rows; undefined: no memory // [M, S]
  torch::Tensor position_ids;      // of the tokens decoded so far // [T]
  int64_t length = 0;              // their number, for length checks
  torch::Tensor documents = {};    // that they are of; undefined: all are of one // [B, T]
  /// The row of the memory that each sequence reads, on the CPU; undefined: its own. // [B]
  torch::Tensor memory_rows = {};

  /// Sequence i becomes what sequence order[i] was. REQUIRES: `order` is on the CPU. // [B']
  void reorder(const torch::Tensor& order);
  /// Forgets all tokens behind the first `count`. REQUIRES: a model that forgets (can_forget()).
  void keep_first(int64_t count);
};

/// Positions of one pass of a stack.
struct StackPositions {
  std::vector<PositionTerms> schemes;         // the first one serves the first layer
  std::vector<ops::AttentionPosition> views;  // of the schemes, through the layers' windows

  /// Added to the embeddings before the first layer; undefined: no vectors.
  /// // [T, D] or [B, T, D]
  const torch::Tensor& embedding() const { return schemes.front().embedding; }
  /// From now on no query attends to a key of another document. // [B, S], [B, T]
  void divide(const torch::Tensor& keys, const torch::Tensor& queries) {
    for (auto& view : views) {
      view.documents = keys;
      view.query_documents = queries;
    }
  }
};

/// One step through a stack: a layer and its position scheme.
struct StackEntry {
  Layer layer;
  size_t scheme, view;  // indices into the stack's schemes and views
  bool starts_scheme;   // no layer before it has this scheme
  int64_t score_index;  // index among the layers that share this position scheme
  int64_t repeat;       // number of earlier entries with the same layer
};

/// Layers over embedded sequences; pre-norm stacks end with a norm. Further heads are layers
/// that have the last one's input, and that norm behind them (Gloeckle et al. 2024).
class StackImpl : public Module {
 public:
  explicit StackImpl(const StackOptions& options);

  /// `memory` is null if the stack has no cross-attention. // [B, T, D]
  StackOutput forward(torch::Tensor x, const StackOutput* memory, const StackPositions& positions,
                      const ForwardContext& context);
  /// The cache of the layers and of `ahead` further heads. `like` [B, T, D] gives batch, type and
  /// device.
  DecoderCache init_cache(const torch::Tensor& like, const StackOutput* memory, int64_t ahead);
  StackOutput step(torch::Tensor x, DecoderCache& cache, const StackPositions& positions,
                   const ForwardContext& context);  // [B, T, D]
  /// The input of the first layer from the sums of embeddings: their norm, if there is one, after
  /// dropout. // [B, T, D] -> [B, T, D]
  torch::Tensor enter(const torch::Tensor& x, const ForwardContext& context) {
    return dropout_(embedding_norm_ ? embedding_norm_(x, context) : x, context);
  }
  /// Position ids of the tokens with these indices. // [T] -> [T]
  torch::Tensor position_ids(const torch::Tensor& indices, const ForwardContext& context) const {
    return (*position_ids_)(indices, context);
  }
  /// Throws LengthError if a sequence of `length` exceeds the positions.
  void check(int64_t length, const ForwardContext& context) const;
  /// Position terms of queries with the ids `query` in a sequence with the ids `key`. // [T], [S]
  StackPositions positions(const torch::Tensor& query, const torch::Tensor& key) const;
  /// Fits the vectors of whole rows with these ids to the rows' own lengths. // [T], [B, T]
  void fit_rows(StackPositions& positions, const torch::Tensor& ids,
                const torch::Tensor& padding_mask) const;

 private:
  /// A scheme as layers with one window, or without one, see it.
  struct View {
    size_t scheme;
    std::optional<int64_t> window;
    int64_t heads;  // of the layers with this window

    bool operator==(const View&) const = default;
  };

  void make_views(const StackOptions& options, const PositionPlan& plan);
  void make_entries(const StackOptions& options, const PositionPlan& plan);
  /// The layers of this pass: all, or in training those of the rounds that are drawn.
  size_t depth_of(const ForwardContext& context) const;
  /// The further heads that run beside the layer of this entry.
  size_t heads_beside(size_t entry, const ForwardContext& context) const;
  /// The output behind the final norm, if there is one, after dropout.
  StackOutput leave(StackOutput output, const ForwardContext& context);
  /// Whole sequences, with the memory that they read, or those that a cache continues.
  struct Pass {
    const StackOutput* memory = nullptr;
    DecoderCache* cache = nullptr;
  };
  /// Runs x through the layers. A layer that runs again draws other random numbers.
  StackOutput run(torch::Tensor x, const Pass& pass, const StackPositions& positions,
                  const ForwardContext& context);

  std::vector<std::shared_ptr<Position>> schemes_;
  std::shared_ptr<PositionIds> position_ids_;
  Dropout dropout_{nullptr}, final_dropout_{nullptr};
  std::vector<View> views_;
  std::vector<size_t> view_of_;  // of each different layer
  std::vector<StackEntry> entries_;
  std::vector<Layer> ahead_;
  size_t round_, fewest_;  // layers of a round, and of the shortest pass in training
  bool injects_;
  std::shared_ptr<ResidualMix> mix_;  // null: layers add to what they read
  Norm embedding_norm_{nullptr}, norm_{nullptr};
};
TORCH_MODULE(Stack);

/// x plus position vectors; x if they are undefined. // [B, T, D], [T, D] or [B, T, D]
torch::Tensor with_positions(const torch::Tensor& x, const torch::Tensor& embedding);

}  // namespace ablate::models
