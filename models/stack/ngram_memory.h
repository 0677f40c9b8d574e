#pragma once

#include <vector>

#include "models/kv_cache.h"
#include "models/linear.h"
#include "models/options/ngram_options.h"
#include "models/options/stack_options.h"

namespace ablate::models {

/// A layer's memory of n-grams, which it reads before its sub-layers. The n-grams end at the
/// position's own token, so no position depends on later ones. A missing token, before the
/// beginning of a sequence or a document, has an id of its own. With e the sum of the rows of a
/// position's n-grams and x the residual stream, it is sigmoid(rms(x) . rms(K e) / sqrt(D)) V e; a
/// parametrization by width divides the product by D / sqrt(base D) instead.
class NgramMemoryImpl : public Module {
 public:
  NgramMemoryImpl(const HashedNgrams& options, const StackOptions& stack);

  /// The cache of sequences without tokens. // [B, T, D]
  KVCache empty_cache(const torch::Tensor& like) const;
  /// For tokens that follow those of the cache, to which they are added; `documents` may be
  /// undefined. // [B, T, D], [B, T], [B, T] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& ids,
                        const torch::Tensor& documents, KVCache& cache) const;

 private:
  /// `past` are the tokens of each position and, shifted by 1, 2, ..., of those before it.
  torch::Tensor read(const torch::Tensor& x, const std::vector<torch::Tensor>& past) const;

  int64_t buckets_;
  double divisor_;                     // of the product
  std::vector<torch::Tensor> tables_;  // of n = 2, 3, ... // [buckets, D]
  Linear key_, value_;
};
TORCH_MODULE(NgramMemory);

}  // namespace ablate::models
