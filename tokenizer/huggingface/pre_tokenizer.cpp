#include "tokenizer/huggingface/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Part stretch(size_t begin, size_t end, bool match) {
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), match};
}

/// What stays of the parts, each as one that does not match.
void settle(std::vector<Part>& parts, Delimiters delimiters) {
  if (delimiters == Delimiters::isolated) return;
  if (delimiters == Delimiters::removed) {
    std::erase_if(parts, [](const Part& part) { return part.match; });
    return;
  }
  const bool backwards = delimiters == Delimiters::with_next;
  if (backwards) std::ranges::reverse(parts);
  std::vector<Part> joined;
  bool before = false;
  for (const auto& part : parts) {
    const bool joins =
        delimiters == Delimiters::contiguous ? part.match == before : part.match && !before;
    if (joins && !joined.empty()) {
      joined.back().begin = std::min(joined.back().begin, part.begin);
      joined.back().end = std::max(joined.back().end, part.end);
    } else {
      joined.push_back(part);
    }
    before = part.match;
  }
  if (backwards) std::ranges::reverse(joined);
  parts = std::move(joined);
}

/// Replaces every piece of text by those that `divide(text, parts)` lists; parts that match are
/// delimiters.
void divide_texts(Pieces& pieces, Delimiters delimiters, const auto& divide) {
  std::vector<Piece> divided;
  std::vector<Part> parts;
  for (const auto& piece : pieces.list) {
    if (piece.id != kText) {
      divided.push_back(piece);
      continue;
    }
    divide(text_of(pieces, piece), parts);
    settle(parts, delimiters);
    for (const auto& part : parts)
      if (part.begin != part.end)
        divided.push_back(
            {piece.begin + part.begin, piece.begin + part.end, kText,
             piece.first > part.begin ? std::min(piece.first, part.end) - part.begin : 0});
  }
  pieces.list = std::move(divided);
}

/// Writes every piece anew: rewrite(text, first, bytes) appends it and returns the new `first`.
void rewrite_texts(Pieces& pieces, const auto& rewrite) {
  std::string bytes;
  bytes.reserve(2 * pieces.bytes.size());
  for (auto& piece : pieces.list) {
    const auto text = text_of(pieces, piece);
    piece.begin = static_cast<uint32_t>(bytes.size());
    if (piece.id == kText)
      piece.first = rewrite(text, piece.first, bytes);
    else
      bytes += text;
    piece.end = static_cast<uint32_t>(bytes.size());
  }
  pieces.bytes = std::move(bytes);
}

void cut(Pieces& pieces, const Split& split) {
  divide_texts(pieces, split.delimiters, [&](std::string_view text, std::vector<Part>& parts) {
    split.pattern.divide(text, parts);
    if (split.invert)
      for (auto& part : parts) part.match = !part.match;
  });
}

void cut(Pieces& pieces, const SplitAt& split) {
  divide_texts(pieces, split.delimiters, [&](std::string_view text, std::vector<Part>& parts) {
    parts.clear();
    for_each_character(text, [&](char32_t point, size_t begin, size_t end) {
      const bool match = split.is_delimiter(point);
      if (match || parts.empty() || parts.back().match)
        parts.push_back(stretch(begin, end, match));
      else
        parts.back().end = static_cast<uint32_t>(end);
    });
  });
}

void cut(Pieces& pieces, Words) {
  enum class Kind { space, word, other };
  divide_texts(pieces, Delimiters::removed, [](std::string_view text, std::vector<Part>& parts) {
    parts.clear();
    auto before = Kind::space;
    for_each_character(text, [&](char32_t point, size_t begin, size_t end) {
      const auto kind = is_word_part(point)     ? Kind::word
                        : is_white_space(point) ? Kind::space
                                                : Kind::other;
      if (kind == before && !parts.empty())
        parts.back().end = static_cast<uint32_t>(end);
      else
        parts.push_back(stretch(begin, end, kind == Kind::space));
      before = kind;
    });
  });
}

void cut(Pieces& pieces, PrependSpace) {
  rewrite_texts(pieces, [](std::string_view text, uint32_t first, std::string& bytes) {
    const bool adds = !text.starts_with(' ');
    if (adds) bytes += ' ';
    bytes += text;
    return first > 0 && adds ? first + 1 : first;
  });
}

void cut(Pieces& pieces, ByteCharacters) {
  rewrite_texts(pieces, [](std::string_view text, uint32_t first, std::string& bytes) {
    const auto begin = bytes.size();
    size_t new_first = begin;
    for (size_t i = 0; i < text.size(); ++i) {
      bytes += byte_character(static_cast<unsigned char>(text[i]));
      if (i < first) new_first = bytes.size();
    }
    return static_cast<uint32_t>(new_first - begin);
  });
}

void cut(Pieces& pieces, const Metaspace& metaspace) {
  const auto& mark = metaspace.mark;
  rewrite_texts(pieces, [&](std::string_view text, uint32_t first, std::string& bytes) {
    const auto begin = bytes.size();
    const bool begins_marked = text.starts_with(' ') || text.starts_with(mark);
    const bool wanted = metaspace.prepend == Metaspace::Prepend::always ||
                        (metaspace.prepend == Metaspace::Prepend::first && first > 0);
    if (wanted && !begins_marked) bytes += mark;
    size_t new_first = begin;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ')
        bytes += mark;
      else
        bytes += text[i];
      if (i < first) new_first = bytes.size();
    }
    return static_cast<uint32_t>(new_first - begin);
  });
  if (metaspace.split) cut(pieces, Split{Pattern(mark), false, Delimiters::with_next});
}

void cut(Pieces& pieces, const FixedLength& length) {
  divide_texts(pieces, Delimiters::isolated, [&](std::string_view text, std::vector<Part>& parts) {
    parts.clear();
    int64_t count = 0;
    for_each_character(text, [&](char32_t, size_t begin, size_t end) {
      if (count++ % length.characters == 0)
        parts.push_back(stretch(begin, end, false));
      else
        parts.back().end = static_cast<uint32_t>(end);
    });
  });
}

bool is_mark_of_bert(char32_t point) {
  constexpr std::u32string_view kSymbols = U"$+<=>^`|~";  // of ASCII, which P* leaves out
  return is_punctuation(point) || kSymbols.find(point) != std::u32string_view::npos;
}

Delimiters read_delimiters(const Node& node) {
  constexpr std::array<std::pair<std::string_view, Delimiters>, 5> kNames = {
      {{"Removed", Delimiters::removed},
       {"Isolated", Delimiters::isolated},
       {"MergedWithPrevious", Delimiters::with_previous},
       {"MergedWithNext", Delimiters::with_next},
       {"Contiguous", Delimiters::contiguous}}};
  for (const auto& [name, delimiters] : kNames)
    if (node.text() == name) return delimiters;
  node.refuse("is '" + node.text() + "', which is not supported");
}

}  // namespace

Metaspace read_metaspace(const Node& node) {
  node.allow({"replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
  Metaspace metaspace;
  append_utf8(metaspace.mark, node.at("replacement").character());
  metaspace.split = node.flag("split", true);
  if (const auto scheme = node.find("prepend_scheme")) {
    const auto name = scheme->text();
    if (name == "first")
      metaspace.prepend = Metaspace::Prepend::first;
    else if (name == "never")
      metaspace.prepend = Metaspace::Prepend::never;
    else if (name != "always")
      scheme->refuse("is '" + name + "', which is not supported");
  }
  if (!node.flag("add_prefix_space", true)) {  // of older files
    if (node.find("prepend_scheme") && metaspace.prepend != Metaspace::Prepend::never)
      node.refuse("has an add_prefix_space that contradicts its prepend_scheme");
    metaspace.prepend = Metaspace::Prepend::never;
  }
  return metaspace;
}

PreTokenizer::PreTokenizer(const Node& node) { add(node); }

void PreTokenizer::add(const Node& node) {
  const auto type = node.type();
  if (type == "Sequence") {
    node.allow({"pretokenizers"});
    for (const auto& step : node.at("pretokenizers").list()) add(step);
  } else if (type == "ByteLevel") {
    node.allow({"add_prefix_space", "trim_offsets", "use_regex"});
    if (node.flag("add_prefix_space", true)) steps_.emplace_back(PrependSpace{});
    if (node.flag("use_regex", true)) steps_.emplace_back(Split{Pattern(Regex(kGpt2))});
    steps_.emplace_back(ByteCharacters{});
  } else if (type == "Split") {
    node.allow({"pattern", "behavior", "invert"});
    steps_.emplace_back(Split{Pattern(node.at("pattern")), node.flag("invert", false),
                              read_delimiters(node.at("behavior"))});
  } else if (type == "Metaspace") {
    steps_.emplace_back(read_metaspace(node));
  } else if (type == "CharDelimiterSplit") {
    node.allow({"delimiter"});
    std::string delimiter;
    append_utf8(delimiter, node.at("delimiter").character());
    steps_.emplace_back(Split{Pattern(std::move(delimiter)), false, Delimiters::removed});
  } else {
    add_leaf(node, type);
  }
}

void PreTokenizer::add_leaf(const Node& node, const std::string& type) {
  if (type == "Punctuation") {
    node.allow({"behavior"});
    const auto behavior = node.find("behavior");
    steps_.emplace_back(
        SplitAt{is_mark_of_bert, behavior ? read_delimiters(*behavior) : Delimiters::isolated});
  } else if (type == "Digits") {
    node.allow({"individual_digits"});
    steps_.emplace_back(SplitAt{is_numeric, node.at("individual_digits").flag()
                                                ? Delimiters::isolated
                                                : Delimiters::contiguous});
  } else if (type == "FixedLength") {
    node.allow({"length"});
    const auto length = node.at("length");
    steps_.emplace_back(FixedLength{length.count(1 << 20)});
    if (length.count(1 << 20) == 0) length.refuse("must be at least 1");
  } else if (type == "BertPreTokenizer") {
    node.allow({});
    steps_.emplace_back(SplitAt{is_white_space, Delimiters::removed});
    steps_.emplace_back(SplitAt{is_mark_of_bert});
  } else if (type == "Whitespace") {
    node.allow({});
    steps_.emplace_back(Words{});
  } else if (type == "WhitespaceSplit") {
    node.allow({});
    steps_.emplace_back(SplitAt{is_white_space, Delimiters::removed});
  } else {
    node.refuse("is the pre-tokenizer '" + type + "', which is not supported");
  }
}

void PreTokenizer::divide(Pieces& pieces) const {
  for (const auto& step : steps_) std::visit([&](const auto& one) { cut(pieces, one); }, step);
}

}  // namespace ablate::tokenizer::huggingface
