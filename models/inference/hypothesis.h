#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "models/inference/search_options.h"

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

/// A hypothesis that has not ended.
struct OpenHypothesis {
  std::vector<int64_t> ids;
  double log_probability = 0;
  uint64_t stream = 0;  // of the random numbers, where tokens are drawn
};

/// The search for the outputs of one row. A state without open hypotheses is done.
struct BeamState {
  size_t row = 0;                    // of the source
  int64_t limit = 0;                 // most tokens of an output
  std::vector<int64_t> prompt;       // still to be read before the output begins
  std::span<const int64_t> prefix;   // what the output must begin with
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

/// What decides how a state goes on.
struct SearchRules {
  const SearchOptions& options;
  const SpecialTokens& tokens;
  int64_t n_best;
};

/// Lets a row that still reads its prompt go on with the next token of it. False where the output
/// has begun.
bool read_prompt(BeamState& state, int64_t row, NextRows& next);

/// One extension of an open hypothesis by a token; by the end where no token may follow.
struct Candidate {
  size_t parent;  // index of the open hypothesis
  int64_t token;
  double log_probability;
};

/// Ends the candidate's hypothesis and keeps it where it is among the n best; of equal scores the
/// first one comes first.
void add_finished(BeamState& state, const Candidate& last, const SearchRules& rules);

/// Throws NotFinite, which names the next token of `hypothesis`, where its log-probability is no
/// number.
void check_number(double log_probability, const OpenHypothesis& hypothesis);

/// Whether none of `open`, best first, can still come among the n best of `state`: log
/// probabilities only fall.
bool is_done(const BeamState& state, std::span<const OpenHypothesis> open,
             const SearchRules& rules);

}  // namespace ablate::models
