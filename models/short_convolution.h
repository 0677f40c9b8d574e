#pragma once

#include <string_view>

#include "models/kv_cache.h"
#include "models/module.h"
#include "models/options/canon_options.h"

namespace ablate::models {

/// A convolution over the last positions of every channel (Allen-Zhu 2025). Its weights start as
/// those of torch.nn.Conv1d.
class ShortConvolutionImpl : public Module {
 public:
  /// Caches keep the last inputs under `name`, a literal.
  ShortConvolutionImpl(const CanonOptions& options, int64_t channels, std::string_view name);

  /// Continues the sequences of `cache`; null, or a cache that is not from begin(): they are x and
  /// no more. // [B, T, C] -> [B, T, C]
  torch::Tensor forward(const torch::Tensor& x, KVCache* cache) const;
  /// Puts the last inputs before the first position into a cache, in the batch and type of `like`.
  /// // [B, T, D]
  void begin(KVCache& cache, const torch::Tensor& like) const;

 private:
  std::string_view name_;
  bool adds_input_;
  torch::Tensor weight_;  // [width, C]
};
TORCH_MODULE(ShortConvolution);

// The same of a convolution that may be null, without which x stays as it is.

torch::Tensor convolved(const ShortConvolution& convolution, const torch::Tensor& x,
                        KVCache* cache = nullptr);
void begin(const ShortConvolution& convolution, KVCache& cache, const torch::Tensor& like);

}  // namespace ablate::models
