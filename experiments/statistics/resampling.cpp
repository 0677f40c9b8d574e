#include "experiments/statistics/resampling.h"

#include <algorithm>
#include <cmath>

#include "experiments/statistics/mean.h"
#include "experiments/statistics/numpy_random.h"

namespace ablate::statistics {
namespace {

using Row = std::vector<int64_t>;
using Weights = std::vector<int32_t>;

/// A table by columns, each of which the compiler sums in vectors; counts fit 32 bits.
std::vector<Weights> columns_of(const SentenceTable& table) {
  std::vector<Weights> columns(table.width);
  for (size_t i = 0; i < table.numbers.size(); ++i)
    columns[i % table.width].push_back(static_cast<int32_t>(table.numbers[i]));
  return columns;
}

/// The sum of the table's rows, each as often as its weight says.
Row weighted_sum(const std::vector<Weights>& columns, const Weights& weights) {
  Row row;
  for (const auto& column : columns) {
    int32_t sum = 0;
    for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * column[i];
    row.push_back(sum);
  }
  return row;
}

Row total(const SentenceTable& table) {
  return weighted_sum(columns_of(table), Weights(table.sentences(), 1));
}

double observed(const SentenceTable& left, const SentenceTable& right, const CorpusScore& score) {
  return std::abs(score(total(left)) - score(total(right)));
}

double p_of(int64_t more, int64_t trials) {
  return static_cast<double>(more + 1) / static_cast<double>(trials + 1);
}

}  // namespace

double paired_bootstrap_p(const SentenceTable& left, const SentenceTable& right,
                          const CorpusScore& score, ResamplingOptions options) {
  NumpyRandom random(options.seed);
  const auto of_left = columns_of(left), of_right = columns_of(right);
  const auto sentences = static_cast<uint32_t>(left.sentences());
  std::vector<double> differences;
  for (int64_t trial = 0; trial < options.trials; ++trial) {
    Weights drawn(sentences);
    for (uint32_t i = 0; i < sentences; ++i) ++drawn[random.below(sentences)];
    differences.push_back(
        std::abs(score(weighted_sum(of_left, drawn)) - score(weighted_sum(of_right, drawn))));
  }
  const double centre = mean(differences);
  const double limit = observed(left, right, score);
  const auto more = std::ranges::count_if(
      differences, [&](double difference) { return difference - centre > limit; });
  return p_of(more, options.trials);
}

double approximate_randomisation_p(const SentenceTable& left, const SentenceTable& right,
                                   const CorpusScore& score, ResamplingOptions options) {
  NumpyRandom random(options.seed);
  const size_t sentences = left.sentences();
  // One stream over all trials: a draw's unused bits belong to the next trial's sentences.
  const auto chosen = random.booleans(static_cast<size_t>(options.trials) * sentences);
  const Row of_left = total(left), of_right = total(right);
  SentenceTable change{left.width, Row(left.numbers.size())};
  for (size_t i = 0; i < change.numbers.size(); ++i)
    change.numbers[i] = left.numbers[i] - right.numbers[i];
  const auto columns = columns_of(change);
  const double limit = observed(left, right, score);
  int64_t more = 0;
  Weights swapped(sentences);
  Row mine(left.width), others(left.width);
  for (size_t trial = 0; trial < static_cast<size_t>(options.trials); ++trial) {
    for (size_t i = 0; i < sentences; ++i) swapped[i] = chosen[trial * sentences + i] ? 1 : 0;
    const auto moved = weighted_sum(columns, swapped);
    for (size_t i = 0; i < left.width; ++i) {
      mine[i] = of_right[i] + moved[i];
      others[i] = of_left[i] - moved[i];
    }
    more += std::abs(score(mine) - score(others)) > limit ? 1 : 0;
  }
  return p_of(more, options.trials);
}

}  // namespace ablate::statistics
