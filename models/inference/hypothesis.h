#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "models/inference/search_options.h"
#include "models/libtorch.h"

namespace ablate::models {

/// The scores of a model are not numbers, so that no output can be chosen.
struct NotFinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One output. `ids` holds neither the start token nor the end token.
struct Hypothesis {
  std::vector<int64_t> ids;
  double score = 0;            // log p / tokens ^ length penalty
  double log_probability = 0;  // log p; both count the end token
  bool ended = false;          // by the end token, and not by the greatest length
};

/// The tokens that searches wrote and the passes in which they did, both counted for every row of
/// a pass that does not read a prompt.
struct SearchCount {
  std::atomic<int64_t> tokens = 0, passes = 0;
};

/// A hypothesis that has not ended.
struct OpenHypothesis {
  std::vector<int64_t> ids;
  double log_probability = 0;
  uint64_t stream = 0;  // of the random numbers of sampling
};

/// The search for the outputs of one row. A state without open hypotheses is done.
struct BeamState {
  size_t row = 0;                    // of the source
  int64_t limit = 0;                 // most tokens of an output
  std::vector<int64_t> prompt;       // still to be read before the output begins
  std::span<const int64_t> prefix;   // that the output must begin with
  std::vector<OpenHypothesis> open;  // best first
  int64_t ended = 0;
  std::vector<Hypothesis> best;  // finished hypotheses, best first, at most n_best
};

/// The rows of the next step: which row of this one each comes from, and the token it reads.
struct NextRows {
  std::vector<int64_t> parents, tokens;  // [R']

  void add(int64_t parent, int64_t token) {
    parents.push_back(parent);
    tokens.push_back(token);
  }
};

/// The options and token ids that a search follows.
struct SearchRules {
  const SearchOptions& options;
  const SpecialTokens& tokens;
  int64_t n_best;
};

/// Continues a row that still reads its prompt by the prompt's next token. False if the output has
/// begun.
bool read_prompt(BeamState& state, int64_t row, NextRows& next);

/// One extension of an open hypothesis by a token, or by the end if no token may follow.
struct Candidate {
  size_t parent;  // index of the open hypothesis
  int64_t token;
  double log_probability;
};

/// Ends the candidate's hypothesis and keeps it if it is among the n best; of equal scores the
/// first one comes first.
void add_finished(BeamState& state, const Candidate& last, const SearchRules& rules);

/// Throws NotFinite, naming the position of the next token of `hypothesis`, if its log-probability
/// is NaN.
void check_number(double log_probability, const OpenHypothesis& hypothesis);

/// Whether none of `open`, best first, can still come among the n best of `state`: log
/// probabilities only fall.
bool is_done(const BeamState& state, std::span<const OpenHypothesis> open,
             const SearchRules& rules);

// R rows, V vocabulary

/// The log-probability of a forbidden token.
inline constexpr double kForbidden = -std::numeric_limits<double>::infinity();

/// The hypothesis that one row of logits continues.
struct RowContext {
  std::span<const int64_t> ids;     // the output so far
  std::span<const int64_t> prefix;  // that the output must begin with; or empty

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

/// Turns logits into the log-probabilities that a search chooses from; built once from the options.
/// A new option that changes them is an entry in the constructor.
class LogitsProcessors {
 public:
  /// `with_prefixes`: whether any output must begin with a prefix; `unwritten`: tokens besides
  /// padding and `bos` that no output has.
  LogitsProcessors(const SearchOptions& options, const SpecialTokens& tokens, bool with_prefixes,
                   std::span<const int64_t> unwritten = {});

  /// Whether only the model decides: then the likeliest tokens are those of the largest logits
  /// except padding and `bos`.
  bool empty() const { return processors_.empty() && only_special_; }
  /// Log-probabilities of every row's next token, in float or wider; kForbidden for padding, `bos`,
  /// unwritten tokens and those that the options forbid. Forbidden tokens keep their share of the
  /// probability, so scores stay those of the model. // [R, V] -> [R, V]
  torch::Tensor apply(const torch::Tensor& logits, std::span<const RowContext> rows) const;

 private:
  std::vector<LogitsProcessor> processors_;  // in order
  std::vector<int64_t> suppressed_;
  bool only_special_;  // whether these are padding and `bos` alone
};

}  // namespace ablate::models
