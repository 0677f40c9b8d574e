#pragma once

#include "models/canon_options.h"
#include "models/module.h"

namespace ablate::models {

/// A convolution over the last positions of every channel (Allen-Zhu 2025). Its weights start as
/// those of torch.nn.Conv1d.
class ShortConvolutionImpl : public Module {
 public:
  ShortConvolutionImpl(const CanonOptions& options, int64_t channels);

  torch::Tensor forward(const torch::Tensor& x) const;  // [B, T, C] -> [B, T, C]
  /// The same for the positions behind `recent`, the last inputs, which it then replaces.
  /// // [B, T, C], [B, width - 1, C] -> [B, T, C]
  torch::Tensor step(const torch::Tensor& x, torch::Tensor& recent) const;
  /// The last inputs before the first position, in the batch and type of `like`. // [B, T, D]
  torch::Tensor nothing_yet(const torch::Tensor& like) const;

 private:
  bool adds_input_;
  torch::Tensor weight_;  // [width, C]
};
TORCH_MODULE(ShortConvolution);

// The same of a convolution that may be null, without which x stays as it is.

/// `recent` is null or undefined if the sequences are x and no more.
torch::Tensor convolved(const ShortConvolution& convolution, const torch::Tensor& x,
                        torch::Tensor* recent = nullptr);
torch::Tensor nothing_yet(const ShortConvolution& convolution, const torch::Tensor& like);

}  // namespace ablate::models
