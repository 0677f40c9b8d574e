#pragma once

#include <variant>
#include <vector>

#include "models/libtorch.h"

namespace ablate::models {

struct Constant {
  double value = 0;
  bool operator==(const Constant&) const = default;
};

/// Normal with mean 0.
struct Normal {
  double deviation = 1;
  bool operator==(const Normal&) const = default;
};

/// Normal with mean 0 and nothing beyond two standard deviations; `deviation` is that before the
/// cut.
struct TruncatedNormal {
  double deviation = 1;
  bool operator==(const TruncatedNormal&) const = default;
};

/// Uniform in [-bound, bound].
struct Uniform {
  double bound = 1;
  bool operator==(const Uniform&) const = default;
};

/// Matrices that lie below each other in the tensor, `rows` of each; every one is uniform within
/// sqrt(6 / (rows + columns)) (Glorot & Bengio 2010).
struct XavierUniform {
  std::vector<int64_t> rows;
  bool operator==(const XavierUniform&) const = default;
};

/// Numbers whose softplus is uniform in [0.01, 1].
struct UniformSoftplus {
  bool operator==(const UniformSoftplus&) const = default;
};

/// How the values of a tensor are drawn before training.
using Initializer =
    std::variant<Constant, Normal, TruncatedNormal, Uniform, XavierUniform, UniformSoftplus>;

/// Fills `tensor` from a generator of `seed`. The values depend on the seed, the shape and the
/// initializer, not on the device.
void fill(torch::Tensor tensor, const Initializer& initializer, uint64_t seed);

/// Draws every parameter and random buffer of `model` from a generator of `seed` and the tensor's
/// full name. Models of one seed then agree wherever they share a name, a shape and a
/// distribution. Throws c10::Error where a parameter has no stated distribution.
void initialize(const torch::nn::Module& model, uint64_t seed);

/// The share of `model`'s parameters, counted in numbers, that one seed draws alike in `other`:
/// those of the same name, shape and distribution. In [0, 1].
double shared_initial_share(const torch::nn::Module& model, const torch::nn::Module& other);

}  // namespace ablate::models
