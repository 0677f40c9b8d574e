#include "models/inference/beam.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace ablate::models {
namespace {

constexpr int64_t kSuppressed = 2;  // tokens that no output has: padding and `bos`

/// All extensions of one state's open hypotheses, best first. A hypothesis that no token may follow
/// ends.
std::vector<Candidate> candidates_of(const BeamState& state, const ops::TopK& top,
                                     int64_t first_row, const SpecialTokens& tokens) {
  const auto value = top.values.accessor<double, 2>();
  const auto index = top.indices.accessor<int64_t, 2>();
  std::vector<Candidate> all;
  for (size_t parent = 0; parent < state.open.size(); ++parent) {
    const auto& open = state.open[parent];
    const auto before = all.size();
    for (int64_t k = 0; k < top.values.size(1); ++k) {
      const int64_t row = first_row + static_cast<int64_t>(parent), token = index[row][k];
      check_number(value[row][k], open);
      if (token != tokens.pad && token != tokens.bos && value[row][k] != kForbidden)
        all.push_back({parent, token, open.log_probability + value[row][k]});
    }
    if (all.size() == before) all.push_back({parent, tokens.eos, open.log_probability});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Candidate::log_probability);
  return all;
}

/// Takes the best extensions: ended ones compete, the others stay open.
void expand(BeamState& state, std::span<const Candidate> candidates, int64_t first_row,
            const SearchRules& rules, NextRows& next) {
  std::vector<OpenHypothesis> open;
  NextRows taken;
  const auto beam = static_cast<size_t>(rules.options.beam);
  for (size_t rank = 0; rank < candidates.size() && open.size() < beam; ++rank) {
    const auto& candidate = candidates[rank];
    const auto& parent = state.open[candidate.parent];
    const bool last = std::ssize(parent.ids) + 1 >= state.limit;
    if (candidate.token != rules.tokens.eos && !last) {
      open.push_back({.ids = parent.ids, .log_probability = candidate.log_probability});
      open.back().ids.push_back(candidate.token);
      taken.add(first_row + static_cast<int64_t>(candidate.parent), candidate.token);
    } else if (rank < beam) {
      add_finished(state, candidate, rules);
    }
  }
  if (is_done(state, open, rules)) return state.open.clear();
  state.open = std::move(open);
  for (size_t i = 0; i < taken.parents.size(); ++i) next.add(taken.parents[i], taken.tokens[i]);
}

}  // namespace

ops::TopK top_tokens(const torch::Tensor& logits, const LogitsProcessors& processors,
                     std::span<const RowContext> rows, int64_t count) {
  const int64_t vocabulary = logits.size(1);
  if (processors.empty())
    return ops::log_softmax_top_k(logits, std::min(count + kSuppressed, vocabulary));
  return ops::top_k(processors.apply(logits, rows), std::min(count, vocabulary));
}

NextRows beam_step(std::span<BeamState> states, const ops::TopK& top, const SearchRules& rules) {
  NextRows next;
  int64_t row = 0;
  for (auto& state : states) {
    const auto rows = std::ssize(state.open);
    if (!read_prompt(state, row, next))
      expand(state, candidates_of(state, top, row, rules.tokens), row, rules, next);
    row += rows;
  }
  return next;
}

}  // namespace ablate::models
