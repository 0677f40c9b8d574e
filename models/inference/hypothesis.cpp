#include "models/inference/hypothesis.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ablate::models {
namespace {

double normalized(double log_probability, int64_t length, double penalty) {
  return log_probability / std::pow(static_cast<double>(length), penalty);
}

}  // namespace

bool read_prompt(BeamState& state, int64_t row, NextRows& next) {
  if (state.prompt.empty()) return false;
  next.add(row, state.prompt.front());
  state.prompt.erase(state.prompt.begin());
  return true;
}

void add_finished(BeamState& state, const Candidate& last, const SearchRules& rules) {
  ++state.ended;
  const auto& parent = state.open[last.parent];
  Hypothesis done{.ids = parent.ids,
                  .score = normalized(last.log_probability, std::ssize(parent.ids) + 1,
                                      rules.options.length_penalty),
                  .log_probability = last.log_probability,
                  .ended = last.token == rules.tokens.eos};
  if (!done.ended) done.ids.push_back(last.token);
  const auto place = std::ranges::find_if(
      state.best, [&](const Hypothesis& other) { return done.score > other.score; });
  state.best.insert(place, std::move(done));
  if (std::ssize(state.best) > rules.n_best) state.best.pop_back();
}

void check_number(double log_probability, const OpenHypothesis& hypothesis) {
  if (!std::isnan(log_probability)) return;
  throw NotFinite("the model's scores are not numbers at step " +
                  std::to_string(hypothesis.ids.size() + 1) +
                  " of an output: its weights are not finite, or overflow; choose another "
                  "--checkpoint or --precision, or train it anew");
}

bool is_done(const BeamState& state, std::span<const OpenHypothesis> open,
             const SearchRules& rules) {
  if (open.empty() || state.ended >= std::max(rules.options.beam, rules.n_best)) return true;
  if (std::ssize(state.best) < rules.n_best) return false;
  return state.best.back().score >=
         normalized(open.front().log_probability, state.limit, rules.options.length_penalty);
}

}  // namespace ablate::models
