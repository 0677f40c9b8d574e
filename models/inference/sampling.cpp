#include "models/inference/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "models/random.h"

namespace ablate::models {
namespace {

struct RankedToken {
  double value;
  int64_t id;
};

/// Tokens of at least `least`, the largest first, of equal ones the smaller id; sorted only as far
/// as they are read.
class Ranking {
 public:
  Ranking(std::span<const double> values, double least) {
    tokens_.reserve(values.size());
    for (size_t id = 0; id < values.size(); ++id)
      if (values[id] >= least) tokens_.push_back({values[id], static_cast<int64_t>(id)});
  }
  size_t size() const { return tokens_.size(); }
  const RankedToken& operator[](size_t rank) {
    while (rank >= sorted_) sort_more();
    return tokens_[rank];
  }

 private:
  void sort_more() {
    constexpr size_t kFirst = 64, kFew = 512;
    const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = tokens_.size() <= kFew ? tokens_.size()
                                     : std::min(tokens_.size(), std::max(kFirst, 4 * sorted_));
    const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    const auto before = [](const RankedToken& a, const RankedToken& b) {
      return a.value != b.value ? a.value > b.value : a.id < b.id;
    };
    // For many tokens, one heap would be slower than two passes.
    if (end != tokens_.end()) std::nth_element(begin, end, tokens_.end(), before);
    std::sort(begin, end, before);
  }

  std::vector<RankedToken> tokens_;
  size_t sorted_ = 0;
};

/// The random number of a step of one stream, in [0, 1).
double uniform_of(uint64_t seed, uint64_t stream, size_t step) {
  const auto bits = mix(mix(seed ^ mix(stream)) ^ step);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// Opens as many hypotheses as outputs are wanted.
void open_samples(BeamState& state, int64_t n_best) {
  state.open.resize(static_cast<size_t>(n_best), state.open.front());
  for (size_t i = 1; i < state.open.size(); ++i) state.open[i].stream += i;
}

/// A random continuation of an open hypothesis; it ends if no token may follow.
Candidate drawn(const BeamState& state, size_t parent, std::span<const double> log_probability,
                const SearchRules& rules) {
  const auto& open = state.open[parent];
  for (const double value : log_probability) check_number(value, open);
  if (std::ranges::max(log_probability) == kForbidden)
    return {parent, rules.tokens.eos, open.log_probability};
  const auto& sampling = std::get<RandomSampling>(rules.options.sampling);
  const auto uniform =
      uniform_of(static_cast<uint64_t>(sampling.random_seed), open.stream, open.ids.size());
  const auto token = sample_token(log_probability, sampling, uniform);
  return {parent, token, open.log_probability + log_probability[static_cast<size_t>(token)]};
}

/// Draws a token for every open hypothesis of one state, whose rows begin at `first_row`; at the
/// first token all of them read the same row.
void sample_one(BeamState& state, std::span<const double> scores, int64_t first_row,
                const SearchRules& rules, NextRows& next) {
  const bool begins = state.open.front().ids.empty();
  const size_t width = scores.size() / (begins ? 1 : state.open.size());
  if (begins) open_samples(state, rules.n_best);
  std::vector<OpenHypothesis> open;
  for (size_t i = 0; i < state.open.size(); ++i) {
    auto& one = state.open[i];
    const size_t row = begins ? 0 : i;
    const auto taken = drawn(state, i, scores.subspan(row * width, width), rules);
    if (taken.token == rules.tokens.eos || std::ssize(one.ids) + 1 >= state.limit) {
      add_finished(state, taken, rules);
      continue;
    }
    open.push_back(
        {.ids = one.ids, .log_probability = taken.log_probability, .stream = one.stream});
    open.back().ids.push_back(taken.token);
    next.add(first_row + static_cast<int64_t>(row), taken.token);
  }
  state.open = std::move(open);
}

}  // namespace

int64_t sample_token(std::span<const double> log_probability, const RandomSampling& sampling,
                     double uniform) {
  const double highest = std::ranges::max(log_probability);
  TORCH_CHECK(std::isfinite(highest), "no token can be drawn");
  const auto weight = [&](double value) {
    return std::exp((value - highest) / sampling.temperature);
  };
  double sum = 0, enough = INFINITY, least = std::numeric_limits<double>::lowest();
  if (sampling.top_k == 0 || sampling.top_p < 1) {
    for (const double value : log_probability) sum += weight(value);
    const double left_out = 1 - (sampling.top_p < 1 ? sampling.top_p : uniform);
    const double share = left_out / (2 * static_cast<double>(log_probability.size()));
    // Together the tokens below it have less than half of the probability beyond top-p or the
    // number drawn.
    least = highest + sampling.temperature * std::log(share * sum);
    enough = sampling.top_p * sum;
  }
  Ranking ranked(log_probability, least);
  size_t kept = ranked.size();
  if (sampling.top_k > 0) kept = std::min(kept, static_cast<size_t>(sampling.top_k));
  if (sampling.top_k > 0 || sampling.top_p < 1) {
    sum = 0;
    for (size_t rank = 0; rank < kept; ++rank)
      if ((sum += weight(ranked[rank].value)) >= enough) kept = rank + 1;
  }
  double left = uniform * sum;
  for (size_t rank = 0; rank + 1 < kept; ++rank)
    if ((left -= weight(ranked[rank].value)) < 0) return ranked[rank].id;
  return ranked[kept - 1].id;
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
