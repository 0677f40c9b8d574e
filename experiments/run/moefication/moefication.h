#pragma once

#include <vector>

#include "data/corpus.h"
#include "experiments/run/load_run.h"

namespace ablate::run {

struct MoefyOptions {
  int64_t experts = 16;
  int64_t active = 4;
  training::Grouping grouping = training::Grouping::coactivation;
  models::RouterOptions router = models::NetworkRouter{};
  int64_t positions = training::InitFromOptions{}.positions;  // recorded for grouping and router
  uint64_t seed = 1;
};

/// The quality of a moefied model in which each position uses `active` experts.
struct MoefyPoint {
  int64_t active = 0;
  double captured = 0;        // share of the hidden layers' activity, mean over layers
  double perplexity = 0;      // validation
  double token_accuracy = 0;  // validation
  double time = 0;            // of all feed-forwards, relative to the dense ones
};

struct Moefied {
  config::Experiment experiment;  // with a mixture instead of every dense feed-forward
  models::Transformer model{nullptr};
  double dense_perplexity = 0, dense_token_accuracy = 0;
  std::vector<MoefyPoint> points;  // for 1, 2, ... experts, at most sixteen steps
  double unknown_targets = 0;      // see Validation
};

/// Splits every ReLU feed-forward of a trained model into experts of equal size (Zhang et al. 2022,
/// MoEfication), with the same weights; the output bias is added once. Throws UsageError if a
/// feed-forward is not a plain ReLU one or `experts` does not divide its width.
Moefied moefy(LoadedRun& run, const data::Corpus& corpus, const MoefyOptions& options);

/// Fills `model`, which `experiment` describes and whose feed-forwards are mixtures with an oracle,
/// similarity or network router, with the weights of `dense`, divided by its training.init_from.
/// Throws UsageError if the sizes do not fit.
void start_split(models::TransformerImpl& model, const config::Experiment& experiment,
                 LoadedRun& dense, const data::Corpus& corpus, uint64_t seed);

}  // namespace ablate::run
