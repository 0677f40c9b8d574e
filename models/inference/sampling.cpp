#include "models/inference/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/random.h"

namespace ablate::models {
namespace {

/// Tokens in falling order of their probability, of equal ones the smaller id first; sorted only as
/// far as they are read.
class Ranking {
 public:
  explicit Ranking(std::span<const double> values) : values_(values), order_(values.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }
  int64_t operator[](size_t rank) {
    while (rank >= sorted_) sort_more();
    return order_[rank];
  }

 private:
  void sort_more() {
    constexpr size_t kFirst = 64;
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = std::min(order_.size(), std::max(kFirst, 4 * sorted_));
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    const auto before = [&](int64_t a, int64_t b) {
      return value(a) != value(b) ? value(a) > value(b) : a < b;
    };
    // Where many are read, a heap of all that are wanted would be slower than two passes.
    std::nth_element(begin, end, order_.end(), before);
    std::sort(begin, end, before);
  }
  double value(int64_t id) const { return values_[static_cast<size_t>(id)]; }

  std::span<const double> values_;
  std::vector<int64_t> order_;
  size_t sorted_ = 0;
};

/// The random number of a step of one stream, in [0, 1).
double uniform_of(uint64_t seed, uint64_t stream, size_t step) {
  const auto bits = mix(mix(seed ^ mix(stream)) ^ step);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// Opens as many hypotheses as outputs are wanted.
void open_samples(BeamState& state, int64_t n_best) {
  const auto first = state.open.front();
  for (int64_t i = 1; i < n_best; ++i) {
    state.open.push_back(first);
    state.open.back().stream += static_cast<uint64_t>(i);
  }
}

/// Draws a token for every open hypothesis of one state, whose rows begin at `first_row`; where
/// it has only begun, all of them read the one row.
void sample_one(BeamState& state, std::span<const double> scores, int64_t first_row,
                const SearchRules& rules, NextRows& next) {
  const auto& sampling = std::get<RandomSampling>(rules.options.sampling);
  const bool begins = state.open.front().ids.empty();
  const size_t width = scores.size() / (begins ? 1 : state.open.size());
  if (begins) open_samples(state, rules.n_best);
  std::vector<OpenHypothesis> open;
  for (size_t i = 0; i < state.open.size(); ++i) {
    auto& one = state.open[i];
    const size_t row = begins ? 0 : i;
    const auto log_probability = scores.subspan(row * width, width);
    const auto uniform =
        uniform_of(static_cast<uint64_t>(sampling.random_seed), one.stream, one.ids.size());
    const auto token = sample_token(log_probability, sampling, uniform);
    const Candidate taken{i, token,
                          one.log_probability + log_probability[static_cast<size_t>(token)]};
    if (token == rules.tokens.eos || std::ssize(one.ids) + 1 >= state.limit) {
      add_finished(state, taken, rules);
      continue;
    }
    open.push_back(
        {.ids = one.ids, .log_probability = taken.log_probability, .stream = one.stream});
    open.back().ids.push_back(token);
    next.add(first_row + static_cast<int64_t>(row), token);
  }
  state.open = std::move(open);
}

}  // namespace

int64_t sample_token(std::span<const double> log_probability, const RandomSampling& sampling,
                     double uniform) {
  Ranking ranked(log_probability);
  const double highest = log_probability[static_cast<size_t>(ranked[0])];
  const auto weight = [&](double value) {
    return std::exp((value - highest) / sampling.temperature);
  };
  const auto weight_at = [&](size_t rank) {
    return weight(log_probability[static_cast<size_t>(ranked[rank])]);
  };
  const auto whole = [&] {
    double sum = 0;
    for (const double value : log_probability) sum += weight(value);
    return sum;
  };
  size_t kept = log_probability.size();
  if (sampling.top_k > 0) kept = std::min(kept, static_cast<size_t>(sampling.top_k));
  double sum = 0;
  if (kept == log_probability.size() && sampling.top_p == 1) {
    sum = whole();
  } else {
    const double enough = sampling.top_p < 1 ? sampling.top_p * whole() : INFINITY;
    for (size_t rank = 0; rank < kept; ++rank) {
      sum += weight_at(rank);
      if (sum >= enough) kept = rank + 1;
    }
  }
  double left = uniform * sum;
  for (size_t rank = 0; rank + 1 < kept; ++rank)
    if ((left -= weight_at(rank)) < 0) return ranked[rank];
  return ranked[kept - 1];
}

NextRows sample_step(std::span<BeamState> states, const torch::Tensor& log_probability,
                     const SearchRules& rules) {
  const auto wide = log_probability.to(torch::kCPU, torch::kDouble).contiguous();  // [R, V]
  const auto width = static_cast<size_t>(wide.size(1));
  const double* scores = wide.const_data_ptr<double>();
  NextRows next;
  int64_t row = 0;
  for (auto& state : states) {
    const auto rows = state.open.size();
    if (!read_prompt(state, row, next))
      sample_one(state, {scores + static_cast<size_t>(row) * width, rows * width}, row, rules,
                 next);
    row += static_cast<int64_t>(rows);
  }
  return next;
}

}  // namespace ablate::models
