#pragma once

#include <vector>

#include "models/layer.h"
#include "models/libtorch.h"
#include "models/position/numbering.h"
#include "models/position/position.h"

namespace ablate::models {

/// What decoding keeps between steps.
struct DecoderCache {
  std::vector<LayerCache> layers;
  torch::Tensor memory_real;     // of the memory's rows; undefined: there is no memory // [M, S]
  torch::Tensor positions;       // of the pieces decoded so far // [T]
  int64_t extent = 0;            // their number, for length checks
  Recorded* recorded = nullptr;  // where steps leave what they did; null: nowhere

  /// Sequence i becomes what sequence order[i] was. // [B']
  void reorder(const torch::Tensor& order);
};

/// Layers over embedded sequences; a final norm where norms come first.
class StackImpl : public torch::nn::Module {
 public:
  explicit StackImpl(const StackOptions& options);

  /// `memory` is null where the stack has no cross-attention. // [B, T, D] -> [B, T, D]
  torch::Tensor forward(torch::Tensor x, const Memory* memory, const PositionTerms& position,
                        const Pass& pass);
  /// `like` [B, T, D] gives batch, type and device.
  DecoderCache start(const torch::Tensor& like, const Memory* memory);
  torch::Tensor step(torch::Tensor x, DecoderCache& cache, const PositionTerms& position,
                     const Pass& pass);  // [B, T, D]
  /// What places of a sequence, from the first on, are to the position scheme. // [T] -> [T]
  torch::Tensor numbers(const torch::Tensor& places, Dropout& pass) const {
    return (*numbering_)(places, pass);
  }
  /// Throws LengthError where a sequence of `length` has no positions.
  void check(int64_t length, const Dropout& pass) const;
  Position& position() { return *position_; }

 private:
  std::shared_ptr<Position> position_;
  std::shared_ptr<Numbering> numbering_;
  std::vector<Layer> layers_;
  Norm norm_{nullptr};
};
TORCH_MODULE(Stack);

/// x plus position vectors, where there are any. // [B, T, D], [T, D]
torch::Tensor with_positions(const torch::Tensor& x, const torch::Tensor& embedding);

}  // namespace ablate::models
