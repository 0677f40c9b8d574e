#include "models/inference/beam_search.h"

#include <algorithm>

#include "models/ops/top_k.h"

namespace ablate::models {
namespace {

/// All extensions of one state's open hypotheses, best first.
std::vector<Candidate> candidates_of(const BeamState& state, const TopTokens& top,
                                     int64_t first_row) {
  const auto value = top.values.accessor<double, 2>();
  const auto id = top.ids.accessor<int64_t, 2>();
  std::vector<Candidate> all;
  for (size_t parent = 0; parent < state.open.size(); ++parent)
    for (int64_t k = 0; k < top.values.size(1); ++k) {
      const int64_t row = first_row + static_cast<int64_t>(parent);
      if (value[row][k] != kForbidden)
        all.push_back({parent, id[row][k], state.open[parent].log_probability + value[row][k]});
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

/// The same where only the suppressed tokens are left out.
TopTokens top_tokens_of_logits(const torch::Tensor& logits, std::span<const int64_t> suppressed,
                               int64_t count) {
  const int64_t wanted = std::min(count, logits.size(1) - std::ssize(suppressed));
  const auto top = ops::log_softmax_top_k(logits, wanted + std::ssize(suppressed));
  TopTokens kept{torch::empty({logits.size(0), wanted}, torch::kDouble),
                 torch::empty({logits.size(0), wanted}, torch::kLong)};
  const auto value = top.values.accessor<double, 2>();
  const auto id = top.indices.accessor<int64_t, 2>();
  auto values = kept.values.accessor<double, 2>();
  auto ids = kept.ids.accessor<int64_t, 2>();
  for (int64_t row = 0; row < logits.size(0); ++row)
    for (int64_t i = 0, k = 0; k < wanted; ++i) {
      if (std::ranges::find(suppressed, id[row][i]) != suppressed.end()) continue;
      values[row][k] = value[row][i];
      ids[row][k++] = id[row][i];
    }
  return kept;
}

}  // namespace

TopTokens top_tokens(const torch::Tensor& logits, const LogitsProcessors& processors,
                     std::span<const RowContext> rows, int64_t count) {
  const auto suppressed = processors.suppressed();
  if (processors.empty() && logits.size(1) > std::ssize(suppressed))
    return top_tokens_of_logits(logits, suppressed, count);
  const auto log_probability = processors.apply(logits, rows);
  const auto [values, ids] = log_probability.topk(std::min(count, log_probability.size(1)), -1);
  return {values.to(torch::kDouble).cpu(), ids.cpu()};
}

NextRows beam_step(std::span<BeamState> states, const TopTokens& top, const SearchRules& rules) {
  NextRows next;
  int64_t row = 0;
  for (auto& state : states) {
    const auto rows = std::ssize(state.open);
    if (!read_prompt(state, row, next))
      expand(state, candidates_of(state, top, row), row, rules, next);
    row += rows;
  }
  return next;
}

}  // namespace ablate::models
