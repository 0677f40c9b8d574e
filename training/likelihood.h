#pragma once

#include <span>

#include "data/encode.h"
#include "models/transformer.h"

namespace ablate::training {

/// Teacher-forced scores over real target tokens, the end mark included.
struct Likelihood {
  double negative = 0;        // mean -log p(target) per token, in nats
  double token_accuracy = 0;  // share of tokens that are the likeliest one
  int64_t tokens = 0;

  double perplexity() const;
};

/// Scores every example, in batches of at most `tokens_per_batch` padded tokens.
Likelihood likelihood(models::Transformer& model, std::span<const data::EncodedExample> examples,
                      int64_t tokens_per_batch);

}  // namespace ablate::training
