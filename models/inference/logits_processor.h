#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "models/inference/search_options.h"
#include "models/libtorch.h"

namespace ablate::models {

// R rows, V vocabulary

/// The log-probability of what is forbidden.
inline constexpr double kForbidden = -std::numeric_limits<double>::infinity();

/// What one row of logits continues.
struct RowContext {
  std::span<const int64_t> ids;     // the output so far
  std::span<const int64_t> prefix;  // what the output must begin with; or empty

  bool in_prefix() const { return ids.size() < prefix.size(); }
};

/// Changes the scores of every row's next token in place. // [R, V]
using LogitsProcessor = std::function<void(torch::Tensor&, std::span<const RowContext>)>;

/// Divides positive logits of tokens that the output already has by `penalty` and multiplies
/// negative ones by it (Keskar et al. 2019).
struct RepetitionPenalty {
  double penalty;
  void operator()(torch::Tensor& logits, std::span<const RowContext> rows) const;
};

/// Forbids the end of outputs with fewer than `length` tokens.
struct MinLength {
  int64_t length;
  TokenId eos;
  void operator()(torch::Tensor& scores, std::span<const RowContext> rows) const;
};

/// Forbids tokens that would end a sequence of `n` tokens that the output already has.
struct NoRepeatNgram {
  int64_t n;
  void operator()(torch::Tensor& scores, std::span<const RowContext> rows) const;
};

/// Forbids all but the next token of the prefix in every row that is still in it.
struct ForcedPrefix {
  void operator()(torch::Tensor& scores, std::span<const RowContext> rows) const;
};

/// What turns logits into the log-probabilities that a search chooses from, built once from the
/// options. A new option that acts on logits is an entry in the constructor.
class LogitsProcessors {
 public:
  /// `with_prefixes`: whether any output must begin with a prefix.
  LogitsProcessors(const SearchOptions& options, const SpecialTokens& tokens, bool with_prefixes);

  /// Whether nothing but the model decides: then the likeliest tokens are those of the largest
  /// logits, but for padding and `bos`.
  bool empty() const { return on_logits_.empty() && on_log_probabilities_.empty(); }
  /// Log-probabilities of every row's next token, in float or wider; kForbidden at padding, `bos`
  /// and what the options forbid; where they forbid every token, the end is allowed again. What is
  /// forbidden keeps its share of the probability, so scores stay those of the model, but for the
  /// repetition penalty. // [R, V] -> [R, V]
  torch::Tensor apply(const torch::Tensor& logits, std::span<const RowContext> rows) const;

 private:
  std::vector<LogitsProcessor> on_logits_;             // before they are normalized
  std::vector<LogitsProcessor> on_log_probabilities_;  // in order
  std::vector<int64_t> suppressed_;
  int64_t eos_;
};

}  // namespace ablate::models
