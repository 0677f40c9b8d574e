#include "experiments/analysis/statistics/corpus_test.h"

#include <algorithm>
#include <cmath>

#include "data/random.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/sign_patterns.h"

namespace ablate::statistics {
namespace {

using Row = std::vector<int64_t>;

void add(Row& sum, const SentenceTable& table, size_t sentence) {
  const int64_t* from = table.numbers.data() + sentence * table.width;
  for (size_t c = 0; c < table.width; ++c) sum[c] += from[c];
}

double p_of(int64_t more, int64_t trials) {
  return static_cast<double>(more + 1) / static_cast<double>(trials + 1);
}

}  // namespace

std::vector<int64_t> total(const SentenceTable& table) {
  Row sum(table.width);
  for (size_t i = 0; i < table.sentences(); ++i) add(sum, table, i);
  return sum;
}

double bootstrap_p(const SentenceTable& left, const SentenceTable& right, const CorpusScore& score,
                   int64_t trials) {
  data::Random random(kResamplingSeed);
  const auto sentences = static_cast<int64_t>(left.sentences());
  std::vector<double> differences;
  for (int64_t trial = 0; trial < trials; ++trial) {
    Row of_left(left.width), of_right(right.width);
    for (int64_t i = 0; i < sentences; ++i) {
      const auto drawn = static_cast<size_t>(random.below(sentences));
      add(of_left, left, drawn);
      add(of_right, right, drawn);
    }
    differences.push_back(std::abs(score(of_left) - score(of_right)));
  }
  const double centre = mean(differences);
  const double observed = std::abs(score(total(left)) - score(total(right)));
  const auto more = std::ranges::count_if(
      differences, [&](double difference) { return difference - centre > observed; });
  return p_of(more, trials);
}

double randomisation_p(const SentenceTable& left, const SentenceTable& right,
                       const CorpusScore& score, int64_t trials) {
  data::Random random(kResamplingSeed);
  SentenceTable change{left.width, Row(left.numbers.size())};  // moved by a swap
  for (size_t i = 0; i < change.numbers.size(); ++i)
    change.numbers[i] = left.numbers[i] - right.numbers[i];
  const Row all_left = total(left), all_right = total(right);
  const double observed = std::abs(score(all_left) - score(all_right));
  int64_t more = 0;
  for (int64_t trial = 0; trial < trials; ++trial) {
    Row moved(left.width), of_left(left.width), of_right(left.width);
    uint64_t swaps = 0;  // a bit for each of 64 sentences
    for (size_t i = 0; i < left.sentences(); ++i, swaps >>= 1U) {
      if (i % 64 == 0) swaps = random.next();
      if ((swaps & 1U) != 0) add(moved, change, i);
    }
    for (size_t c = 0; c < left.width; ++c) {
      of_left[c] = all_left[c] - moved[c];
      of_right[c] = all_right[c] + moved[c];
    }
    more += std::abs(score(of_left) - score(of_right)) > observed ? 1 : 0;
  }
  return p_of(more, trials);
}

}  // namespace ablate::statistics
