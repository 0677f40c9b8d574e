#pragma once

#include "experiments/exchange/archive.h"
#include "models/transformer.h"

namespace ablate::exchange {

/// The difference between an exported module and its model over the examples: one by one and in a
/// batch, whole and cut to half their length.
struct Agreement {
  int64_t inputs = 0;      // tensors of ids compared
  double logits = 0;       // largest difference of finite ones
  double scale = 1;        // largest finite logit of tokens that either may write, at least 1
  int64_t not_finite = 0;  // logits of either that are not
  int64_t searched = 0;    // rows decoded greedily and by beam search
  int64_t different = 0;   // whose ids or scores differ
};

Agreement compare(models::Transformer& model, torch::jit::Module& module,
                  const ExportContents& contents);

/// Whether all logits are finite and the difference is within rounding: 1e-4 of the largest logit
/// in float, for which all searches must agree, too; a twentieth in bfloat16.
bool agrees(const Agreement& agreement, torch::ScalarType type);

/// One sentence.
std::string to_text(const Agreement& agreement);

}  // namespace ablate::exchange
