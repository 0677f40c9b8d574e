#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "models/options/attention_options.h"
#include "options/bounds.h"

namespace ablate::models {

/// Section 2.1: the normed vector is all that decoding keeps of a position, beside a part of its
/// key that all heads share, the only one that rotary positions turn. Queries have a part for it,
/// too, and may be of low rank themselves.
struct Latent {
  static constexpr std::string_view name = "latent";
  static constexpr std::string_view about =
      "multi-head latent attention, whose keys and values are products of one vector of low rank "
      "(DeepSeek-AI 2024, arXiv 2405.04434)";
  static constexpr bool is_sublayer = true;
  static constexpr MixerTraits traits{.has_scores = true, .keeps_documents = true};
  static constexpr bool can_forget() { return true; }
  static constexpr bool clips_scores() { return true; }
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t heads = 8;
  std::optional<int64_t> rank, query_rank;
  std::optional<int64_t> d_k, shared_d_k, d_v;
  double dropout = 0.0;

  static void fields(auto& o, auto&& visit) {
    constexpr auto kWidths = options::from(1, 65'536);
    visit("heads", o.heads, "attention heads", options::from(1, 1024));
    visit("rank", o.rank,
          "width of the vector that keys and values are made of (kv_lora_rank); absent: half of "
          "d_model",
          kWidths);
    visit("query_rank", o.query_rank,
          "width of the vector that queries are made of (q_lora_rank); absent: queries are made of "
          "the input",
          kWidths);
    visit("d_k", o.d_k,
          "width of the part of queries and keys that each head has for itself "
          "(qk_nope_head_dim); absent: d_model / heads",
          kWidths);
    visit("shared_d_k", o.shared_d_k,
          "width of the part of keys that all heads share, which rotary positions turn "
          "(qk_rope_head_dim); absent: half of d_k",
          kWidths);
    visit("d_v", o.d_v, "width of a value (v_head_dim); absent: d_model / heads", kWidths);
    visit("dropout", o.dropout, kWeightDropoutHelp, options::from_below(0, 1));
  }
};

/// Widths of a latent attention.
struct LatentWidths {
  int64_t heads, rank;
  int64_t d_k, shared, d_v;  // of a key's own and shared parts, and of a value
};

constexpr LatentWidths widths_of(const Latent& o, int64_t d_model) {
  const int64_t d_k = o.d_k.value_or(d_model / o.heads);
  return {.heads = o.heads,
          .rank = o.rank.value_or(std::max<int64_t>(1, d_model / 2)),
          .d_k = d_k,
          .shared = o.shared_d_k.value_or(std::max<int64_t>(1, d_k / 2)),
          .d_v = o.d_v.value_or(d_model / o.heads)};
}

}  // namespace ablate::models
