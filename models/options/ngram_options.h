#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "options/bounds.h"

namespace ablate::models {

struct NoNgrams : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "layers read the token at their position alone";
  static constexpr bool reads_back = false;
};

/// Tables without keys (section 2, without its convolution and its merged tokens; bigrams alone:
/// Jordan et al. 2024, modded-nanogpt).
struct HashedNgrams {
  static constexpr std::string_view name = "hashed";
  static constexpr std::string_view about =
      "vectors of the last two or more tokens, in hashed tables (DeepSeek 2026, Engram, arXiv "
      "2601.07372)";
  static constexpr bool reads_back = true;  // decoding keeps the last tokens
  int64_t longest = 2;
  int64_t buckets = 8192;

  static void fields(auto& o, auto&& visit) {
    visit("longest", o.longest, "tokens of the longest n-grams; each length from 2 on has a table",
          options::from(2, 4));
    visit("buckets", o.buckets,
          "rows of a table, which different n-grams share if their hashes are equal",
          options::from(1, 100'000'000));
  }
};

using NgramOptions = std::variant<NoNgrams, HashedNgrams>;

}  // namespace ablate::models
