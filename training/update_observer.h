#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/libtorch.h"
#include "training/observation.h"
#include "training/update.h"

namespace ablate::training {

// B sequences, T queries or positions, S keys, H heads, N unpadded positions, D model width, F
// hidden width. Undefined quantities are NaN.

/// Entropy in nats of each head's attention, -sum p log p, the mean over the queries for which
/// `counted` is true: ln n if a query attends to n keys equally, 0 if it attends to one (Zhai et
/// al. 2023). Weights are first divided by their sum, which need not be 1; queries whose weights
/// are all zero are left out. // [B, H, T, S], [B, T] -> H
std::vector<double> attention_entropy(const torch::Tensor& weights, const torch::Tensor& counted);

/// Weight of the first key, the mean over the counted queries (Xiao et al. 2023, section 3.1: the
/// attention sink). // [B, H, T, S], [B, T] -> H
std::vector<double> attention_sink(const torch::Tensor& weights, const torch::Tensor& counted);

/// How far a sequence's positions differ from each other: ||X - 1 m|| / ||X||, where m is the mean
/// of the unpadded positions X, the mean over sequences of several positions. It is 0 if all rows
/// are equal, so that X has rank one (Dong et al. 2021, section 2, who use the norm of l1 and
/// l-infinity; here it is the Frobenius norm, in which 1 m is the nearest such matrix).
/// // [B, T, D], [B, T]
double rank_residual(const torch::Tensor& x, const torch::Tensor& padding_mask);

/// Share of the hidden units that are not zero, over all positions (Li et al. 2022, section 2).
/// Of relu and relu2 these are the units above zero; other activations have hardly any zeros.
/// // [N, F]
double active_neurons(const torch::Tensor& hidden);

/// A squared gradient norm, and the number of tokens that the gradient is the mean over.
struct GradientSize {
  double square, tokens;
};

/// Estimates of the true gradient G and of the covariance S of one token's gradient, from two
/// gradient sizes (McCandlish et al. 2018, appendix A.1). Both are unbiased, so they may be
/// averaged over updates; `square` may be negative if noise exceeds the gradient.
struct GradientNoise {
  double square;    // |G|^2
  double variance;  // trace of S

  /// The simple noise scale in tokens, trace(S) / |G|^2: gradients of much smaller batches are
  /// mostly noise, and much larger ones are hardly better. Infinite if `square` is not positive.
  double scale() const;
};

/// REQUIRES: different numbers of tokens.
GradientNoise gradient_noise(const GradientSize& small, const GradientSize& big);

/// Observes one update: constructed before it, queried after it.
class UpdateObserver {
 public:
  /// Computes gradients of parts of `batch`, one of the update's, and leaves the model unchanged.
  /// REQUIRES: no gradients in the model.
  UpdateObserver(models::Transformer model, const data::Batch& batch, const UpdateOptions& update,
                 const ObserveOptions& options);

  /// Norm of the change / norm of the weights before it, of every layer, of the parameters outside
  /// the layers and of the whole model (You et al. 2017, LARS, section 3: for plain steps the
  /// inverse of their trust ratio); and the gradient noise, unless the update is too small to be
  /// divided.
  std::vector<Observation> after(const StepRecord& record) const;

 private:
  models::Transformer model_;
  std::vector<std::pair<std::string, torch::Tensor>> weights_;  // copies; empty: not observed
  GradientSize parts_{};                                        // no tokens: not wanted
};

}  // namespace ablate::training
