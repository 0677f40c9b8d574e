#pragma once

#include <cmath>

#include "models/ops/attention.h"
#include "models/options/stack_options.h"

namespace ablate::models {

/// Numbers and widths of the heads that are projected, with the defaults of `MultiHead` filled in.
/// Each query of a differential head is one for the operations.
inline ops::Heads heads_of(const MultiHead& options, int64_t d_model) {
  return {.count = options.maps(),
          .key_values = options.key_value_heads.value_or(options.heads),
          .d_k = options.d_k.value_or(d_model / options.heads),
          .d_v = options.d_v.value_or(d_model / options.heads)};
}

/// The factor by which a parametrization makes products of queries and keys smaller: the base width
/// over d_model if the width of a head follows it, otherwise 1.
inline double head_narrowing_of(const MultiHead& options, const StackOptions& stack) {
  if (options.d_k) return 1;
  return static_cast<double>(base_width_of(stack.parametrization, stack.d_model)) /
         static_cast<double>(stack.d_model);
}

/// The factor of queries: not 1 if the scale differs from 1 / sqrt(d_k), or if the parametrization
/// changes the size of scores. A given scale is that of the base width.
inline double query_factor_of(const MultiHead& options, const StackOptions& stack) {
  const double narrowing = head_narrowing_of(options, stack);
  if (!options.scale.value) return std::sqrt(narrowing);
  const auto d_k = static_cast<double>(heads_of(options, stack.d_model).d_k);
  return *options.scale.value * std::sqrt(d_k) * narrowing;
}

}  // namespace ablate::models
