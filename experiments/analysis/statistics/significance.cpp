#include "experiments/analysis/statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "data/random.h"
#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {
namespace {

/// Relative rounding error of sums that count as equal.
constexpr double kRounding = 1e-12;

/// The number of sign patterns of `rest` whose sum, added to `sum`, is extreme.
template <class Extreme>
int64_t extreme_patterns(double sum, std::span<const double> rest, const Extreme& extreme) {
  if (rest.empty()) return extreme(sum) ? 1 : 0;
  const auto next = rest.subspan(1);
  return extreme_patterns(sum + rest.front(), next, extreme) +
         extreme_patterns(sum - rest.front(), next, extreme);
}

template <class Extreme>
double drawn_share(std::span<const double> values, const Extreme& extreme) {
  data::Random random(kResamplingSeed);
  int64_t hits = 0;
  for (int64_t trial = 0; trial < kDrawnFlips; ++trial) {
    double sum = 0;
    for (const double value : values) sum += random.below(2) == 0 ? value : -value;
    hits += extreme(sum) ? 1 : 0;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(kDrawnFlips + 1);
}

template <class Extreme>
double extreme_share(std::span<const double> values, const Extreme& extreme) {
  const auto count = static_cast<int64_t>(values.size());
  if (count > kMostExactFlips) return drawn_share(values, extreme);
  return static_cast<double>(extreme_patterns(0, values, extreme)) /
         static_cast<double>(int64_t{1} << count);
}

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The rounding error that sums of the values may have.
double rounding_of(std::span<const double> values) {
  double size = 0;
  for (const double value : values) size += std::abs(value);
  return kRounding * size;
}

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  const double limit = std::abs(sum_of(differences)) - rounding_of(differences);
  return extreme_share(differences, [=](double sum) { return std::abs(sum) >= limit; });
}

double equivalence_p(std::span<const double> differences, double margin) {
  const double rounding =
      rounding_of(differences) + kRounding * margin * static_cast<double>(differences.size());
  double p = 0;
  for (const double side : {-1, 1}) {
    std::vector<double> distances;
    for (const double difference : differences) distances.push_back(margin + side * difference);
    const double limit = sum_of(distances) - rounding;
    p = std::max(p, extreme_share(distances, [=](double sum) { return sum >= limit; }));
  }
  return p;
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

std::vector<double> holm(std::span<const double> p, size_t most_true) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double before = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto factor = static_cast<double>(std::min(most_true, p.size() - rank));
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
