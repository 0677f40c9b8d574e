#include "experiments/analysis/statistics/resampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "experiments/analysis/statistics/mean.h"
#include "experiments/analysis/statistics/numpy_random.h"

namespace ablate::statistics {
namespace {

using Row = std::vector<int64_t>;

/// Four counts, which fit 32 bits, summed in one instruction.
using Four = int32_t __attribute__((vector_size(16)));
using Fours = std::vector<Four>;

constexpr size_t kLanes = 4;
constexpr size_t kGroup = 4;  // sentences whose 16 subsets have their sums ready
constexpr size_t kSubsets = size_t{1} << kGroup;

/// Rows of whole numbers, padded to whole Fours.
class PaddedRows {
 public:
  PaddedRows(size_t rows, size_t width)
      : width_(width), blocks_((width + kLanes - 1) / kLanes), fours_(rows * blocks_) {}

  Four* row(size_t r) { return fours_.data() + r * blocks_; }
  const Four* row(size_t r) const { return fours_.data() + r * blocks_; }
  size_t blocks() const { return blocks_; }

  void set(size_t r, size_t column, int64_t number) {
    row(r)[column / kLanes][column % kLanes] = static_cast<int32_t>(number);
  }

  void add_to(Fours& sum, size_t r) const {
    const Four* from = row(r);
    for (size_t b = 0; b < blocks_; ++b) sum[b] += from[b];
  }

  /// The numbers of such a sum.
  void read(const Fours& sum, Row& into) const {
    into.resize(width_);
    for (size_t c = 0; c < width_; ++c) into[c] = sum[c / kLanes][c % kLanes];
  }

 private:
  size_t width_, blocks_;
  Fours fours_;
};

PaddedRows padded(const SentenceTable& table) {
  PaddedRows rows(table.sentences(), table.width);
  for (size_t i = 0; i < table.numbers.size(); ++i)
    rows.set(i / table.width, i % table.width, table.numbers[i]);
  return rows;
}

/// For every group of sentences and every subset of it the sum of what its sentences change.
PaddedRows subset_sums(const SentenceTable& left, const SentenceTable& right) {
  const size_t groups = (left.sentences() + kGroup - 1) / kGroup;
  SentenceTable change{left.width, Row(left.numbers.size())};
  for (size_t i = 0; i < change.numbers.size(); ++i)
    change.numbers[i] = left.numbers[i] - right.numbers[i];
  const auto rows = padded(change);
  PaddedRows sums(groups * kSubsets, left.width);
  for (size_t i = 0; i < left.sentences(); ++i)
    for (size_t subset = 0; subset < kSubsets; ++subset)
      if ((subset >> (i % kGroup) & 1U) != 0)
        for (size_t b = 0; b < rows.blocks(); ++b)
          sums.row(i / kGroup * kSubsets + subset)[b] += rows.row(i)[b];
  return sums;
}

Row total(const SentenceTable& table) {
  Row sum(table.width);
  for (size_t i = 0; i < table.numbers.size(); ++i) sum[i % table.width] += table.numbers[i];
  return sum;
}

double observed(const SentenceTable& left, const SentenceTable& right, const CorpusScore& score) {
  return std::abs(score(total(left)) - score(total(right)));
}

double p_of(int64_t more, int64_t trials) {
  return static_cast<double>(more + 1) / static_cast<double>(trials + 1);
}

/// The kGroup bits from bit `at` on, the lowest first.
size_t bits_at(const std::vector<uint32_t>& words, size_t at) {
  const uint64_t both = words[at / 32] | static_cast<uint64_t>(words[at / 32 + 1]) << 32U;
  return both >> (at % 32) & (kSubsets - 1);
}

}  // namespace

Resampling::Resampling(size_t sentences, ResamplingOptions options)
    : sentences_(sentences), options_(options) {
  NumpyRandom bootstrap(options.seed), randomisation(options.seed);
  drawn_.resize(static_cast<size_t>(options.bootstrap_trials) * sentences);
  for (auto& sentence : drawn_) sentence = bootstrap.below(static_cast<uint32_t>(sentences));
  // One stream over all trials: a draw's unused bits belong to the next trial's sentences.
  swapped_ =
      randomisation.boolean_words(static_cast<size_t>(options.randomisation_trials) * sentences);
  swapped_.push_back(0);  // the last bits are read with the word behind them
}

double Resampling::bootstrap_p(const SentenceTable& left, const SentenceTable& right,
                               const CorpusScore& score) const {
  const auto of_left = padded(left), of_right = padded(right);
  Fours left_sum(of_left.blocks()), right_sum(of_right.blocks());
  Row row;
  const auto score_of = [&](const Fours& sum) {
    of_left.read(sum, row);
    return score(row);
  };
  std::vector<double> differences;
  for (size_t at = 0; at < drawn_.size(); at += sentences_) {
    std::ranges::fill(left_sum, Four{});
    std::ranges::fill(right_sum, Four{});
    for (size_t i = at; i < at + sentences_; ++i) {
      of_left.add_to(left_sum, drawn_[i]);
      of_right.add_to(right_sum, drawn_[i]);
    }
    differences.push_back(std::abs(score_of(left_sum) - score_of(right_sum)));
  }
  const double centre = mean(differences);
  const double limit = observed(left, right, score);
  const auto more = std::ranges::count_if(
      differences, [&](double difference) { return difference - centre > limit; });
  return p_of(more, options_.bootstrap_trials);
}

double Resampling::randomisation_p(const SentenceTable& left, const SentenceTable& right,
                                   const CorpusScore& score) const {
  const auto sums = subset_sums(left, right);
  const Row of_left = total(left), of_right = total(right);
  const double limit = observed(left, right, score);
  const auto trials = static_cast<size_t>(options_.randomisation_trials);
  Fours moved(sums.blocks());
  Row change, mine(left.width), others(left.width);
  int64_t more = 0;
  for (size_t trial = 0; trial < trials; ++trial) {
    std::ranges::fill(moved, Four{});
    for (size_t i = 0; i < sentences_; i += kGroup)
      sums.add_to(moved, i / kGroup * kSubsets + bits_at(swapped_, trial * sentences_ + i));
    sums.read(moved, change);
    for (size_t c = 0; c < left.width; ++c) {
      mine[c] = of_right[c] + change[c];
      others[c] = of_left[c] - change[c];
    }
    more += std::abs(score(mine) - score(others)) > limit ? 1 : 0;
  }
  return p_of(more, options_.randomisation_trials);
}

}  // namespace ablate::statistics
