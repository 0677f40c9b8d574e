#include "experiments/analysis/statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "data/random.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/sign_patterns.h"

namespace ablate::statistics {
namespace {

/// The rounding error that sums of the values may have.
double rounding_of(std::span<const double> values) {
  double size = 0;
  for (const double value : values) size += std::abs(value);
  return kRounding * size;
}

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  const std::vector<double> sample(differences.begin(), differences.end());
  return joint_sign_flip_p({&sample, 1}, Side::both).front();
}

double equivalence_p(std::span<const double> differences, double margin) {
  const auto patterns = SignPatterns::of(differences.size());
  const double rounding =
      rounding_of(differences) + kRounding * margin * static_cast<double>(differences.size());
  double p = 0;
  for (const double side : {-1, 1}) {
    std::vector<double> distances;
    for (const double difference : differences) distances.push_back(margin + side * difference);
    const auto sums = patterns.sums(distances);
    const auto hits =
        std::ranges::count_if(sums, [&](double sum) { return sum >= sums.front() - rounding; });
    p = std::max(p, static_cast<double>(hits) / static_cast<double>(patterns.size()));
  }
  return p;
}

namespace {

/// Student's t of differences that are not all equal.
double t_of(std::span<const double> differences) {
  return mean(differences) * std::sqrt(static_cast<double>(differences.size())) /
         deviation(differences);
}

bool all_equal(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

}  // namespace

double t_test_p(std::span<const double> differences) {
  if (differences.size() < 2) return 1;
  if (all_equal(differences)) return differences.front() == 0 ? 1 : 0;
  return t_tail(t_of(differences), std::ssize(differences) - 1);
}

double t_greater_p(std::span<const double> differences) {
  if (differences.size() < 2) return 1;
  if (all_equal(differences)) return differences.front() > 0 ? 0 : 1;
  const double half = t_test_p(differences) / 2;
  return mean(differences) > 0 ? half : 1 - half;
}

double smallest_sign_flip_p(int64_t count) {
  return std::min(1.0, 2 * smallest_equivalence_p(count));
}

double smallest_equivalence_p(int64_t count) {
  return std::ldexp(1, -static_cast<int>(std::min<int64_t>(count, 1000)));
}

int64_t differences_needed(double level, int64_t comparisons, double (*smallest)(int64_t)) {
  int64_t count = 1;
  while (static_cast<double>(comparisons) * smallest(count) > level) ++count;
  return count;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double before = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto factor = static_cast<double>(p.size() - rank);
    before = std::max(before, std::min(1.0, factor * p[order[rank]]));
    adjusted[order[rank]] = before;
  }
  return adjusted;
}

namespace {

using Row = std::vector<int64_t>;

void add(Row& sum, const SentenceTable& table, size_t sentence) {
  const int64_t* from = table.numbers.data() + sentence * table.width;
  for (size_t c = 0; c < table.width; ++c) sum[c] += from[c];
}

Row total(const SentenceTable& table) {
  Row sum(table.width);
  for (size_t i = 0; i < table.sentences(); ++i) add(sum, table, i);
  return sum;
}

double p_of(int64_t more, int64_t trials) {
  return static_cast<double>(more + 1) / static_cast<double>(trials + 1);
}

}  // namespace

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
