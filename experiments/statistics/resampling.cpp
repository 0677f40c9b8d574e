#include "experiments/statistics/resampling.h"

#include <algorithm>
#include <cmath>

#include "experiments/statistics/mean.h"
#include "experiments/statistics/numpy_random.h"

namespace ablate::statistics {
namespace {

using Row = std::vector<int64_t>;

void add(Row& sum, const SentenceTable& table, size_t sentence) {
  const int64_t* row = table.numbers.data() + sentence * table.width;
  for (size_t i = 0; i < table.width; ++i) sum[i] += row[i];
}

Row total(const SentenceTable& table) {
  Row sum(table.width);
  for (size_t i = 0; i < table.sentences(); ++i) add(sum, table, i);
  return sum;
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
  const auto sentences = static_cast<uint32_t>(left.sentences());
  std::vector<double> differences;
  for (int64_t trial = 0; trial < options.trials; ++trial) {
    Row of_left(left.width), of_right(right.width);
    for (uint32_t i = 0; i < sentences; ++i) {
      const size_t drawn = random.below(sentences);
      add(of_left, left, drawn);
      add(of_right, right, drawn);
    }
    differences.push_back(std::abs(score(of_left) - score(of_right)));
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
  const double limit = observed(left, right, score);
  int64_t more = 0;
  Row mine(left.width), others(left.width);
  for (size_t trial = 0; trial < static_cast<size_t>(options.trials); ++trial) {
    Row moved(left.width);
    for (size_t i = 0; i < sentences; ++i)
      if (chosen[trial * sentences + i]) add(moved, change, i);
    for (size_t i = 0; i < left.width; ++i) {
      mine[i] = of_right[i] + moved[i];
      others[i] = of_left[i] - moved[i];
    }
    more += std::abs(score(mine) - score(others)) > limit ? 1 : 0;
  }
  return p_of(more, options.trials);
}

}  // namespace ablate::statistics
