#include "experiments/analysis/metric.h"

#include <cmath>
#include <initializer_list>

namespace ablate::analysis {
namespace {

constexpr statistics::Interval kHundred{0, 100}, kFromZero{0, statistics::kUnbounded.high},
    kFromOne{1, statistics::kUnbounded.high};

const Metric kExactMatch{"exact_match", Direction::higher, kShare,
                         [](const records::TestScores& s) { return s.exact_match; }};
const Metric kTokenAccuracy{"token_accuracy", Direction::higher, kShare,
                            [](const records::TestScores& s) { return s.token_accuracy; }};
const Metric kBleu{"bleu", Direction::higher, kHundred,
                   [](const records::TestScores& s) { return s.bleu; }};
const Metric kChrf{"chrf", Direction::higher, kHundred,
                   [](const records::TestScores& s) { return s.chrf; }};
const Metric kPerplexity{"perplexity", Direction::lower, kFromOne,
                         [](const records::TestScores& s) { return s.perplexity; }};
const Metric kLoss{"loss", Direction::lower, kFromZero,
                   [](const records::TestScores& s) { return std::log(s.perplexity); }};
const Metric kNats{"nats_per_character", Direction::lower, kFromZero,
                   [](const records::TestScores& s) { return s.nats_per_character; }};

}  // namespace

const std::vector<Metric>& metrics_of(data::Compared compared) {
  static const std::vector<Metric> kText{kExactMatch, kTokenAccuracy, kBleu, kChrf,
                                         kPerplexity, kLoss,          kNats};
  static const std::vector<Metric> kLabel{kExactMatch, kPerplexity, kLoss};
  static const std::vector<Metric> kNothing{kTokenAccuracy, kPerplexity, kLoss, kNats};
  switch (compared) {
    case data::Compared::text:
      return kText;
    case data::Compared::label:
      return kLabel;
    case data::Compared::nothing:
      return kNothing;
  }
  return kNothing;
}

const std::vector<RunMetric>& run_metrics() {
  static const std::vector<RunMetric> kMetrics{
      {"train_loss", Direction::lower, kFromZero,
       [](const records::RunResult& run) { return run.train_loss; }},
      {"validation_perplexity", Direction::lower, kFromOne,
       [](const records::RunResult& run) { return run.validation_perplexity; }},
      {"validation_token_accuracy", Direction::higher, kShare,
       [](const records::RunResult& run) { return run.validation_token_accuracy; }}};
  return kMetrics;
}

}  // namespace ablate::analysis
