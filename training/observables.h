#pragma once

#include <vector>

#include "models/libtorch.h"

namespace ablate::training {

// B sequences, T queries or positions, S keys, H heads, N unpadded positions, D model width, F
// hidden width. What nothing can be said of is NaN.

/// Entropy in nats of what each head's queries attend to, -sum p log p, the mean over the queries
/// that `counted` holds true: ln n where a query sees n keys alike, 0 where it sees one alone
/// (Zhai et al. 2023). Weights are divided by their sum first, which need not be 1; queries whose
/// weights are all zero are left out. // [B, H, T, S], [B, T] -> H
std::vector<double> attention_entropy(const torch::Tensor& weights, const torch::Tensor& counted);

/// Weight of the first key, the mean over the counted queries (Xiao et al. 2023, section 3.1: the
/// attention sink). // [B, H, T, S], [B, T] -> H
std::vector<double> attention_sink(const torch::Tensor& weights, const torch::Tensor& counted);

/// How far a sequence's positions differ from each other: ||X - 1 m|| / ||X||, where m is the mean
/// of the unpadded positions X, the mean over sequences of several positions. It is 0 where all
/// rows are the same, so that X has rank one (Dong et al. 2021, section 2, where the norm is that
/// of l1 and l-infinity; here it is Frobenius's, of which m is the nearest such matrix).
/// // [B, T, D], [B, T]
double rank_residual(const torch::Tensor& x, const torch::Tensor& padding_mask);

/// Share of the hidden units that are not zero, over all positions (Li et al. 2022, section 2).
/// Of relu and relu2 these are the units above zero; other activations have hardly any zeros.
/// // [N, F]
double active_neurons(const torch::Tensor& hidden);

/// A squared gradient norm, and over how many tokens the gradient is the mean.
struct GradientSize {
  double square, tokens;
};

/// What two gradient sizes say of the true gradient G and of the covariance S of one token's
/// (McCandlish et al. 2018, appendix A.1). Both estimates are unbiased, so that their means over
/// several updates are sound; `square` may be negative where noise drowns the gradient.
struct GradientNoise {
  double square;    // |G|^2
  double variance;  // trace of S

  /// The simple noise scale in tokens, trace(S) / |G|^2: gradients of much smaller batches are
  /// mostly noise, and much larger ones are hardly better. Infinite where `square` is not positive.
  double scale() const;
};

/// REQUIRES: other tokens in the one than in the other.
GradientNoise gradient_noise(const GradientSize& small, const GradientSize& big);

}  // namespace ablate::training
