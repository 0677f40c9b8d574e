#pragma once

#include <string>
#include <vector>

#include "experiments/corpora/split.h"
#include "experiments/corpora/text/alignment.h"

namespace ablate::corpora {

/// What a man page consists of: a paragraph or heading, or a request of troff that divides them.
struct ManBlock {
  std::string request;  // ".PP"; of a heading ".SH" or ".SS"; empty: a paragraph
  std::string text;     // normalized, without troff's escapes
  bool operator==(const ManBlock&) const = default;
};

/// The blocks of a man page in troff, without examples and tables.
std::vector<ManBlock> man_blocks(const std::string& page);

/// The headings and sentences of a man page and of its translation; none where the two differ in
/// their structure. The translators' section is left out.
std::vector<Pair> man_pairs(const std::string& document, const std::string& page,
                            const std::string& translation, const Language& language);

}  // namespace ablate::corpora
