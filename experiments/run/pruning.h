#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "experiments/run/load_run.h"
#include "training/head_importance.h"

namespace ablate::run {

struct PruneOptions {
  int64_t parts = 10;  // into which the removal of all heads is divided
  bool each = false;   // whether every head is also left out by itself
};

/// Validation scores without some heads.
struct PrunePoint {
  int64_t removed = 0;
  double nll = 0;  // per target token
  double token_accuracy = 0;
};

struct Pruning {
  std::vector<training::HeadScore> heads;  // the least important first
  std::vector<PrunePoint> points;          // from no head left out to all
  std::vector<PrunePoint> alone;           // without one of `heads` each, if requested
  double unknown_targets = 0;              // see Validation
};

/// Ranks the heads of a trained model by their importance on the validation set, and scores the
/// model on that set as they are left out in this order, the least important first (Michel et al.
/// 2019, section 4). The model is restored afterwards. Throws UsageError if it has no heads.
Pruning prune(LoadedRun& run, const data::Corpus& corpus, const PruneOptions& options);

/// A sentence for each side whose positions are mixed by something without heads.
std::vector<std::string> sides_without_heads(const models::TransformerOptions& model);

/// Leaves the first `count` of `heads` out of the run's model.
void remove_heads(LoadedRun& run, std::span<const training::HeadScore> heads, int64_t count);

}  // namespace ablate::run
