#pragma once

#include <memory>
#include <vector>

#include "models/forward_context.h"
#include "models/module.h"
#include "models/position/position.h"
#include "models/transformer_options.h"

namespace ablate::models {

/// What mixes the positions of one sequence: attention, or what stands in its place. A mixer of a
/// causal stack lets nothing pass from later positions to earlier ones.
class Mixer : public Module {
 public:
  /// What a mixer keeps of the positions so far.
  struct Past {
    std::vector<torch::Tensor> tensors;
    /// Which row of each pair of tensors belongs to row b, for then nothing is copied where rows
    /// come, go and change places; undefined: every tensor has B rows. // [B, pairs]
    torch::Tensor rows;

    /// Row i becomes what row order[i] was. // [B']
    void reorder(const torch::Tensor& order);
  };

  /// `real` [B, T] is false at padding, or undefined where nothing is padded before a real
  /// position. `observer` may be null.
  /// // [B, T, D] -> [B, T, D]
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& real,
                                const AttentionPosition& position, const Observer* observer) = 0;
  /// The past of sequences that have not begun, in the type of `like`. // [B, ..., D]
  virtual Past nothing(const torch::Tensor& like) const = 0;
  /// Continues sequences of a causal stack, and adds the new positions to `past`. Several positions
  /// at once need an empty past. // [B, T, D] -> [B, T, D]
  virtual torch::Tensor step(const torch::Tensor& x, Past& past,
                             const AttentionPosition& position) = 0;
};

/// Null where the stack has no attention.
std::shared_ptr<Mixer> make_mixer(const StackOptions& options);

}  // namespace ablate::models
