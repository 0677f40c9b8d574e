#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/corpus.h"
#include "experiments/run_folder.h"

namespace ablate::experiments {

/// How the neurons of a feed-forward are divided into experts.
enum class Grouping { random, clusters, coactivation };
constexpr auto names(Grouping) {
  return std::to_array<std::pair<Grouping, std::string_view>>(
      {{Grouping::random, "random"},
       {Grouping::clusters, "clusters"},
       {Grouping::coactivation, "coactivation"}});
}

struct MoefyOptions {
  int64_t experts = 16;
  int64_t active = 4;
  Grouping grouping = Grouping::coactivation;
  models::RouterOptions router = models::NetworkRouter{};
  int64_t positions = 20'000;  // recorded for grouping and router
  uint64_t seed = 1;
};

/// What a moefied model keeps when each position uses `active` of its experts.
struct MoefyPoint {
  int64_t active = 0;
  double captured = 0;        // share of the hidden layers' activity, mean over layers
  double perplexity = 0;      // validation
  double token_accuracy = 0;  // validation
  double time = 0;            // of all feed-forwards, relative to the dense ones
};

struct Moefied {
  Experiment experiment;  // with a mixture instead of every dense feed-forward
  models::Transformer model{nullptr};
  double dense_perplexity = 0, dense_token_accuracy = 0;
  MoefyPoint chosen;               // of `model`
  std::vector<MoefyPoint> points;  // for 1, 2, ... experts, at most sixteen steps
};

/// Splits every ReLU feed-forward of a trained model into experts of equal size (Zhang et al. 2022,
/// MoEfication), with the same weights; the output bias is added once. Throws UsageError where a
/// feed-forward is not a plain ReLU one or `experts` does not divide its width.
Moefied moefy(LoadedRun& run, const data::Corpus& corpus, const MoefyOptions& options);

}  // namespace ablate::experiments
