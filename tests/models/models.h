#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/transformer.h"

namespace ablate::models {

inline constexpr int64_t kPad = 0;

inline Transformer make(const TransformerOptions& options, const Vocabulary& vocabulary,
                        uint64_t seed = 1) {
  Transformer model(options, vocabulary);
  initialize(*model, seed);
  return model;
}

inline Transformer make(const TransformerOptions& options, int64_t vocabulary = 20) {
  torch::manual_seed(1);  // of what a test draws later
  return make(options, Vocabulary{vocabulary, vocabulary, kPad});
}

/// A model with weights far from their initial values: some parts have no effect at first, and
/// almost equal logits would make searches differ by rounding.
inline Transformer moved(const TransformerOptions& options, double by = 0.3) {
  auto model = make(options);
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * by);
  return model;
}

/// `module` with its parameters drawn.
template <class Pointer>
Pointer initialized(Pointer module, uint64_t seed = 1) {
  initialize(*module, seed);
  return module;
}

inline torch::Tensor ids(std::vector<std::vector<int64_t>> rows) {
  std::vector<torch::Tensor> all;
  for (const auto& row : rows) all.push_back(torch::tensor(row, torch::kLong));
  return torch::stack(all);
}

/// Gradients of `output` weighted by fixed numbers, so that no symmetry hides an error.
inline std::vector<torch::Tensor> weighted_gradients(const torch::Tensor& output,
                                                     const std::vector<torch::Tensor>& inputs) {
  torch::manual_seed(7);
  return torch::autograd::grad({(output * torch::randn_like(output)).sum()}, inputs);
}

inline double largest_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

/// The largest difference as a share of the largest number in `a`, or of 1 where that is larger: a
/// model without norms has large outputs, and rounding grows with them.
inline double rounding_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return largest_difference(a, b) / std::max(1.0, a.abs().max().item<double>());
}

}  // namespace ablate::models
