#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "models/option_traits.h"

namespace ablate::models {

struct NoNgrams : EmptyOptions {
  static constexpr std::string_view name = "none";
};

/// Vectors of the last two and more tokens, in tables without keys (DeepSeek 2026, Engram, section
/// 2, without its convolution and its merged tokens; bigrams alone: Jordan et al. 2024,
/// modded-nanogpt).
struct HashedNgrams {
  static constexpr std::string_view name = "hashed";
  int64_t longest = 2;
  int64_t buckets = 8192;

  static void fields(auto& o, auto&& visit) {
    visit("longest", o.longest, "tokens of the longest n-grams; each length from 2 on has a table");
    visit("buckets", o.buckets,
          "rows of a table, which different n-grams share if their hashes are equal");
  }
  static void rules(const HashedNgrams& o, auto&& require) {
    require(o.longest >= 2 && o.longest <= 4, "longest", "must be from 2 to 4");
    require(o.buckets >= 1 && o.buckets <= 100'000'000, "buckets", "must be from 1 to 100000000");
  }
};

using NgramOptions = std::variant<NoNgrams, HashedNgrams>;

}  // namespace ablate::models
