#pragma once

#include <variant>
#include <vector>

#include "models/libtorch.h"

namespace ablate::models {

struct Constant {
  double value = 0;
};

/// Normal with mean 0. The first rows of a matrix may have a smaller or larger deviation.
struct Normal {
  double deviation = 1;
  int64_t rows = 0;   // that have
  double factor = 1;  // times it
};

/// Normal with mean 0, cut off at this many standard deviations; `deviation` is that before.
struct TruncatedNormal {
  double deviation = 1;
  double cutoff = 2;
};

/// Uniform in [low, high].
struct Uniform {
  double low = 0, high = 1;

  static Uniform within(double bound) { return {-bound, bound}; }
};

/// Matrices stacked in the tensor, with `rows` rows each; every one is uniform within gain sqrt(6 /
/// (rows + columns)) (Glorot & Bengio 2010). Rows are outputs or, transposed, inputs.
struct XavierUniform {
  std::vector<int64_t> rows;
  bool transposed = false;
  bool adds_to_residual = false;  // their output is added to the residual stream
  size_t scores = 0;              // number of leading matrices whose outputs are scores
  int64_t d_k = 0;                // width of a query, whose matrix is the first; 0: none is
  double gain = 1;
  double value_gain = 1;  // factor of the gain of all others
};

/// Numbers whose softplus is uniform in [0.01, 1].
struct UniformSoftplus {};

/// Numbers whose exponential is uniform in [low, high].
struct UniformExponential {
  double low = 1, high = 1;
};

/// How the values of a tensor are drawn before training.
using Initializer = std::variant<Constant, Normal, TruncatedNormal, Uniform, XavierUniform,
                                 UniformSoftplus, UniformExponential>;

/// Fills `tensor` from a generator of `seed`. The values depend on the seed, the shape and the
/// initializer, not on the device.
void fill(torch::Tensor tensor, const Initializer& initializer, uint64_t seed);

/// Draws every parameter and random buffer of `model` from a generator of `seed` and the tensor's
/// full name. Models of one seed thus share all tensors that agree in name, shape and distribution.
/// Throws c10::Error if a parameter has no stated distribution.
void initialize(const torch::nn::Module& model, uint64_t seed);

}  // namespace ablate::models
