#pragma once

#include <span>
#include <vector>

#include "models/head_name.h"
#include "models/transformer.h"
#include "training/likelihood.h"

namespace ablate::training {

/// A head and its importance.
struct HeadScore {
  models::HeadName head;
  double importance = 0;
};

/// The importance of every head (Michel et al. 2019, section 4.1): the mean over the examples of
/// |d L / d m|, where m multiplies the head's output at all positions and L is the negative
/// log-likelihood of the example's targets; divided by the l2 norm of these means over the heads of
/// an attention, unless all are 0. In the order of attentions_of(); heads of a shared layer are
/// listed once, with one m for all its runs. Padding is ignored.
std::vector<HeadScore> head_importance(models::Transformer& model,
                                       std::span<const data::EncodedExample> examples,
                                       const LikelihoodOptions& options);

}  // namespace ablate::training
