#include "models/inference/logits_processor.h"

#include <algorithm>

namespace ablate::models {
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
    return torch::tensor(rows_, torch::kLong).to(scores.device());  // [N]
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
    return {rows(scores), torch::tensor(tokens_, torch::kLong).to(scores.device())};
  }

  std::vector<int64_t> rows_, tokens_;
};

/// Tokens that would end a sequence of n tokens that `ids` already has.
std::vector<int64_t> banned_ngram_tokens(std::span<const int64_t> ids, int64_t n) {
  std::vector<int64_t> banned;
  if (std::ssize(ids) < n) return banned;
  const auto tail = static_cast<size_t>(n - 1);
  for (size_t i = 0; i + tail < ids.size(); ++i)
    if (std::ranges::equal(ids.subspan(i, tail), ids.last(tail))) banned.push_back(ids[i + tail]);
  return banned;
}

/// Gives rows in which nothing is possible their end back. // [R, V], [R]
void allow_ends(torch::Tensor& scores, int64_t eos, const torch::Tensor& ends) {
  const auto stuck = scores.amax(1).eq(kForbidden);  // [R]
  auto now = scores.select(1, eos);
  now.copy_(torch::where(stuck, ends, now));
}

}  // namespace

void RepetitionPenalty::operator()(torch::Tensor& logits, std::span<const RowContext> rows) const {
  Cells seen;
  for (size_t row = 0; row < rows.size(); ++row)
    for (const auto id : rows[row].ids) seen.add(row, id);
  if (seen.empty()) return;
  const auto logit = seen.of(logits).to(torch::kDouble);  // [N]
  const auto weaker = torch::where(logit > 0, logit / penalty, logit * penalty);
  seen.set(logits, weaker.to(logits.scalar_type()));
}

void MinLength::operator()(torch::Tensor& scores, std::span<const RowContext> rows) const {
  Cells early;
  for (size_t row = 0; row < rows.size(); ++row)
    if (!rows[row].in_prefix() && std::ssize(rows[row].ids) < length) early.add(row, eos);
  early.forbid(scores);
}

void NoRepeatNgram::operator()(torch::Tensor& scores, std::span<const RowContext> rows) const {
  Cells repeating;
  for (size_t row = 0; row < rows.size(); ++row)
    if (!rows[row].in_prefix())
      for (const auto id : banned_ngram_tokens(rows[row].ids, n)) repeating.add(row, id);
  repeating.forbid(scores);
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
                                   bool with_prefixes)
    : suppressed_{tokens.pad, tokens.bos}, eos_(tokens.eos) {
  if (options.repetition_penalty != 1)
    on_logits_.emplace_back(RepetitionPenalty{options.repetition_penalty});
  if (options.min_length > 0 && tokens.eos != kNoEnd)
    on_log_probabilities_.emplace_back(MinLength{options.min_length, tokens.eos});
  if (options.no_repeat_ngram > 0)
    on_log_probabilities_.emplace_back(NoRepeatNgram{options.no_repeat_ngram});
  if (with_prefixes) on_log_probabilities_.emplace_back(ForcedPrefix{});
}

torch::Tensor LogitsProcessors::apply(const torch::Tensor& logits,
                                      std::span<const RowContext> rows) const {
  const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  auto changed = logits;
  if (!on_logits_.empty()) changed = logits.to(wide, /*non_blocking=*/false, /*copy=*/true);
  for (const auto& process : on_logits_) process(changed, rows);
  auto scores = torch::log_softmax(changed, -1, wide);
  for (const auto token : suppressed_) scores.select(1, token).fill_(kForbidden);
  if (on_log_probabilities_.empty()) return scores;
  const auto ends = eos_ == kNoEnd ? torch::Tensor() : scores.select(1, eos_).clone();  // [R]
  for (const auto& process : on_log_probabilities_) process(scores, rows);
  if (ends.defined()) allow_ends(scores, eos_, ends);
  return scores;
}

}  // namespace ablate::models
