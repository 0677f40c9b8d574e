#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "options/bounds.h"

namespace ablate::models {

// Every sampling states whether it `draws` tokens, rather than searching for them.

struct NoSampling : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "every next token is the likeliest one, or the beam's";
  static constexpr bool draws = false;
};

struct RandomSampling {
  static constexpr std::string_view name = "random";
  static constexpr std::string_view about = "every next token is drawn at random";
  static constexpr bool draws = true;
  double temperature = 1.0;
  int64_t top_k = 0;
  double top_p = 1.0;
  int64_t random_seed = 1;

  static void fields(auto& o, auto&& visit) {
    visit("temperature", o.temperature, "divides the log-probabilities; below 1: sharper",
          options::above(0, 100));
    visit("top_k", o.top_k, "draw from this many of the likeliest tokens; 0: from all",
          options::at_least(0));
    visit("top_p", o.top_p,
          "draw from the likeliest tokens that together have this probability (Holtzman et al. "
          "2020), taken over all tokens, even if top_k leaves out some",
          options::above(0, 1));
    visit("random_seed", o.random_seed, "seed of the draws; every line draws its own numbers",
          options::at_least(0));
  }
};

using SamplingOptions = std::variant<NoSampling, RandomSampling>;

constexpr bool draws(const SamplingOptions& sampling) {
  return std::visit([]<class Held>(const Held&) { return Held::draws; }, sampling);
}

/// How outputs are searched for. The one list of these options, their defaults and their ranges:
/// the section `decoding` of a study, the flags of the program, the search and the exported loops
/// all read it.
struct SearchOptions {
  int64_t beam = 1;
  double length_penalty = 1.0;
  int64_t min_length = 0;
  int64_t max_length = 256;
  double max_ratio = 3.0;
  SamplingOptions sampling;
  int64_t batch = 64;
  int64_t draft = 0;

  /// Most tokens of an output, its end included, for a source of `source_tokens` tokens.
  int64_t longest_output(int64_t source_tokens) const {
    const double limit = std::min(10 + max_ratio * static_cast<double>(source_tokens),
                                  static_cast<double>(max_length));
    return std::max(static_cast<int64_t>(limit), min_length + 1);
  }

  static void fields(auto& o, auto&& visit) {
    visit("beam", o.beam, "hypotheses kept; 1: greedy", options::from(1, 256));
    visit("length_penalty", o.length_penalty,
          "score = log-probability / length ^ penalty, the end token counting as one",
          options::from(0, 10));
    visit("min_length", o.min_length, "minimum number of tokens of an output");
    visit("max_length", o.max_length, "maximum number of tokens of an output",
          options::from(1, 65'536));
    visit("max_ratio", o.max_ratio,
          "an output has at most 10 + max_ratio * source tokens, or min_length if that is more",
          options::above(0, 1000));
    visit("sampling", o.sampling, "draw outputs at random instead of searching");
    visit("batch", o.batch, "sentences decoded together", options::from(1, 65'536));
    visit("draft", o.draft,
          "tokens that as many further heads (model.output.ahead) guess, which the next pass "
          "verifies together; outputs stay the same; with batch 1 most passes are saved; 0: none",
          options::from(0, 16));
  }
  static void rules(const SearchOptions& o, auto&& require) {
    require(o.min_length >= 0 && o.min_length < o.max_length, "min_length",
            "must be from 0 to below max_length");
    require(o.draft == 0 || o.beam == 1, "draft",
            "must be 0 with a beam of several hypotheses: a draft continues one");
  }
};

/// The id of a token. It has no default, since ids belong to the tokenizer.
struct TokenId {
  constexpr TokenId(int64_t id) : value(id) {}
  constexpr operator int64_t() const { return value; }
  int64_t value;
};

/// An end token for outputs that always reach their greatest length.
constexpr int64_t kNoEnd = -1;

/// The special tokens of a search.
struct SpecialTokens {
  TokenId pad;  // fills rows up; no token of an output
  TokenId bos;  // begins sequences; no token of an output
  TokenId eos;  // ends an output, or kNoEnd
  /// Precedes the first token of an output, or in a decoder-only model of the prompt, which may
  /// have none.
  std::optional<TokenId> start;
};

}  // namespace ablate::models
