#pragma once

#include <variant>
#include <vector>

#include "models/libtorch.h"

namespace ablate::models {

struct Constant {
  double value = 0;
};

/// Normal with mean 0.
struct Normal {
  double deviation = 1;
};

/// Normal with mean 0 and nothing beyond two standard deviations; `deviation` is that before the
/// cut.
struct TruncatedNormal {
  double deviation = 1;
};

/// Uniform in [-bound, bound].
struct Uniform {
  double bound = 1;
};

/// Matrices that lie below each other in the tensor, `rows` of each; every one is uniform within
/// gain sqrt(6 / (rows + columns)) (Glorot & Bengio 2010). Rows are outputs or, transposed, inputs.
struct XavierUniform {
  std::vector<int64_t> rows;
  bool transposed = false;
  bool adds_to_residual = false;  // what the matrices give is added to the residual stream
  size_t scores = 0;              // how many of them, the first ones, give what weighs values
  double gain = 1;
  double value_gain = 1;  // what the gain of all others is multiplied by
};

/// Numbers whose softplus is uniform in [0.01, 1].
struct UniformSoftplus {};

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

}  // namespace ablate::models
