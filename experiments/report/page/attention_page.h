#pragma once

#include <string>
#include <vector>

namespace ablate::report {

/// One attention of one layer: how much each query (row) reads of each key (column).
struct AttentionMap {
  std::string title;                                    // "layer 2"
  std::vector<std::string> queries, keys;               // tokens
  std::vector<std::vector<std::vector<double>>> heads;  // shares, rows sum to 1 // [H][T][S]
};

/// Attentions of one kind, layer by layer.
struct AttentionGroup {
  std::string title;  // "Decoder, over the source"
  std::vector<AttentionMap> layers;
};

/// A self-contained page: every head as a table whose cells show their share in per cent and by
/// their shade. All texts are escaped.
std::string attention_page(const std::string& title, const std::vector<AttentionGroup>& groups);

}  // namespace ablate::report
