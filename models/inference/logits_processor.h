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

/// Changes the log-probabilities of every row's next token in place. // [R, V]
using LogitsProcessor = std::function<void(torch::Tensor&, std::span<const RowContext>)>;

/// Forbids the end of outputs with fewer than `length` tokens.
struct MinLength {
  int64_t length;
  TokenId eos;
  void operator()(torch::Tensor& scores, std::span<const RowContext> rows) const;
};

/// Forbids all but the next token of the prefix in every row that is still in it.
struct ForcedPrefix {
  void operator()(torch::Tensor& scores, std::span<const RowContext> rows) const;
};

/// What turns logits into the log-probabilities that a search chooses from, built once from the
/// options. A new option that acts on them is an entry in the constructor.
class LogitsProcessors {
 public:
  /// `with_prefixes`: whether any output must begin with a prefix.
  LogitsProcessors(const SearchOptions& options, const SpecialTokens& tokens, bool with_prefixes);

  /// Whether nothing but the model decides: then the likeliest tokens are those of the largest
  /// logits, but for padding and `bos`.
  bool empty() const { return processors_.empty(); }
  /// Log-probabilities of every row's next token, in float or wider; kForbidden at padding, `bos`
  /// and what the options forbid. Forbidden tokens keep their share of the probability, so scores
  /// stay those of the model. // [R, V] -> [R, V]
  torch::Tensor apply(const torch::Tensor& logits, std::span<const RowContext> rows) const;

 private:
  std::vector<LogitsProcessor> processors_;  // in order
  std::vector<int64_t> suppressed_;
};

}  // namespace ablate::models
