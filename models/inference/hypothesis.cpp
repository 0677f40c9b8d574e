#include "models/inference/hypothesis.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/ops/backend.h"
#include "models/ops/elementwise.h"

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

namespace {

/// Cells of a matrix of scores, of which all are read or written at once.
class Cells {
 public:
  void add(size_t row, int64_t token) {
    rows_.push_back(static_cast<int64_t>(row));
    tokens_.push_back(token);
  }
  bool empty() const { return rows_.empty(); }
  torch::Tensor rows(const torch::Tensor& scores) const {
    return ops::to_device(torch::tensor(rows_, torch::kLong), scores.device());  // [N]
  }
  torch::Tensor of(const torch::Tensor& scores) const { return scores.index(indices(scores)); }
  void set(torch::Tensor& scores, const torch::Tensor& values) const {
    scores.index_put_(indices(scores), values);
  }
  void forbid(torch::Tensor& scores) const {
    if (!empty()) scores.index_put_(indices(scores), kForbidden);
  }

 private:
  std::vector<at::indexing::TensorIndex> indices(const torch::Tensor& scores) const {
    return {rows(scores), ops::to_device(torch::tensor(tokens_, torch::kLong), scores.device())};
  }

  std::vector<int64_t> rows_, tokens_;
};

}  // namespace

void MinLength::operator()(torch::Tensor& scores, std::span<const RowContext> rows) const {
  Cells early;
  for (size_t row = 0; row < rows.size(); ++row)
    if (!rows[row].in_prefix() && std::ssize(rows[row].ids) < length) early.add(row, eos);
  early.forbid(scores);
}

void ForcedPrefix::operator()(torch::Tensor& scores, std::span<const RowContext> rows) const {
  Cells wanted;
  for (size_t row = 0; row < rows.size(); ++row)
    if (rows[row].in_prefix()) wanted.add(row, rows[row].prefix[rows[row].ids.size()]);
  if (wanted.empty()) return;
  const auto values = wanted.of(scores);  // [N]
  scores.index_fill_(0, wanted.rows(scores), kForbidden);
  wanted.set(scores, values);
}

LogitsProcessors::LogitsProcessors(const SearchOptions& options, const SpecialTokens& tokens,
                                   bool with_prefixes, std::span<const int64_t> unwritten)
    : suppressed_{tokens.pad, tokens.bos}, only_special_(unwritten.empty()) {
  suppressed_.insert(suppressed_.end(), unwritten.begin(), unwritten.end());
  if (options.min_length > 0 && tokens.eos != kNoEnd)
    processors_.emplace_back(MinLength{options.min_length, tokens.eos});
  if (with_prefixes) processors_.emplace_back(ForcedPrefix{});
}

torch::Tensor LogitsProcessors::apply(const torch::Tensor& logits,
                                      std::span<const RowContext> rows) const {
  auto scores = torch::log_softmax(logits, -1, ops::wide_type(logits));
  for (const auto token : suppressed_) scores.select(1, token).fill_(kForbidden);
  for (const auto& process : processors_) process(scores, rows);
  return scores;
}

}  // namespace ablate::models
