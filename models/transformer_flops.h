#pragma once

#include "models/transformer.h"

namespace ablate::models {

/// The extent of the padded ids that a pass reads. A model of one side reads only its own.
struct PassExtent {
  int64_t rows = 0, source = 0, target = 0;
};

/// Floating-point operations of the matrix products of a forward pass: two for each multiplication,
/// at every position that is computed, padding and positions without a prediction included.
/// Attention counts the keys in a query's window, also those that causality hides; a mixture the
/// experts that its router chooses. Noisy routers count the size of their noise, linear attention
/// and the delta rule their products over whole sequences, as training computes them. Norms,
/// activations, sums and lookups are left out.
double forward_flops(const TransformerOptions& options, const Vocabulary& vocabulary,
                     const PassExtent& extent);

/// Those of one further head in a pass that runs it.
double flops_ahead(const TransformerOptions& options, const Vocabulary& vocabulary,
                   const PassExtent& extent);

/// The multiplications of the same pass in the layers of one side from this depth on.
double stack_products(const StackOptions& stack, const PassExtent& extent, int64_t first = 0);

/// Those of the projection to the vocabulary, and of the transform before it, if there is one.
struct HeadProducts {
  double output = 0, transform = 0;
};
HeadProducts head_products(const TransformerOptions& options, const Vocabulary& vocabulary,
                           const PassExtent& extent);

}  // namespace ablate::models
