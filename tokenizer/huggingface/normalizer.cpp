#include "tokenizer/huggingface/normalizer.h"

#include <algorithm>

namespace ablate::tokenizer::huggingface {
namespace {

/// A new text, whose parts say where in the old one their characters come from.
class Rewriting {
 public:
  explicit Rewriting(Text& text) : text_(text) { out_.bytes.reserve(text.bytes.size()); }

  void put(std::string_view part, size_t source) {
    out_.bytes += part;
    if (source < text_.first) out_.first = out_.bytes.size();
  }
  void keep(size_t begin, size_t end) {
    if (begin < text_.first) out_.first = out_.bytes.size() + std::min(end, text_.first) - begin;
    out_.bytes.append(text_.bytes, begin, end - begin);
  }
  void finish() { text_ = std::move(out_); }

 private:
  Text& text_;
  Text out_;
};

void filter(Text& text, const auto& keeps) {
  Rewriting rewriting(text);
  for_each_character(text.bytes, [&](char32_t point, size_t begin, size_t end) {
    if (keeps(point)) rewriting.keep(begin, end);
  });
  rewriting.finish();
}

void rewrite(Text& text, NormalForm form) {
  const auto first = in_normal_form(std::string_view(text.bytes).substr(0, text.first), form);
  text.bytes = in_normal_form(text.bytes, form);
  text.first = std::min(first.size(), text.bytes.size());
}

void rewrite(Text& text, Lowercase) {
  const auto first = lower_characters(std::string_view(text.bytes).substr(0, text.first));
  text.bytes = lower_characters(text.bytes);
  text.first = first.size();
}

void rewrite(Text& text, StripAccents) {
  filter(text, [](char32_t point) { return !is_mark(point); });
}

bool is_dropped_by_nmt(char32_t point) {
  return (point >= 0x1 && point <= 0x8) || point == 0xb || (point >= 0xe && point <= 0x1f) ||
         point == 0x7f || point == 0x8f || point == 0x9f;
}

bool is_space_in_nmt(char32_t point) {
  constexpr std::u32string_view kSpaces =
      U"\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd";
  return kSpaces.find(point) != std::u32string_view::npos;
}

void rewrite(Text& text, Nmt) {
  Rewriting rewriting(text);
  for_each_character(text.bytes, [&](char32_t point, size_t begin, size_t end) {
    if (is_dropped_by_nmt(point)) return;
    if (is_space_in_nmt(point))
      rewriting.put(" ", begin);
    else
      rewriting.keep(begin, end);
  });
  rewriting.finish();
}

void rewrite(Text& text, ByteCharacters) {
  Rewriting rewriting(text);
  for (size_t i = 0; i < text.bytes.size(); ++i)
    rewriting.put(byte_character(static_cast<unsigned char>(text.bytes[i])), i);
  rewriting.finish();
}

/// An ideograph, which BERT takes for a word (Devlin et al. 2019, multilingual models).
bool is_chinese(char32_t point) {
  return (point >= 0x4e00 && point <= 0x9fff) || (point >= 0x3400 && point <= 0x4dbf) ||
         (point >= 0x20000 && point <= 0x2a6df) || (point >= 0x2a700 && point <= 0x2b81f) ||
         (point >= 0x2b920 && point <= 0x2ceaf) || (point >= 0xf900 && point <= 0xfaff) ||
         (point >= 0x2f800 && point <= 0x2fa1f);
}

void clean(Text& text) {
  Rewriting rewriting(text);
  for_each_character(text.bytes, [&](char32_t point, size_t begin, size_t end) {
    const bool line_space = point == '\t' || point == '\n' || point == '\r';
    if (point == 0xfffd || (is_invisible(point) && !line_space)) return;
    if (is_white_space(point))
      rewriting.put(" ", begin);
    else
      rewriting.keep(begin, end);
  });
  rewriting.finish();
}

void isolate_chinese(Text& text) {
  Rewriting rewriting(text);
  for_each_character(text.bytes, [&](char32_t point, size_t begin, size_t end) {
    const bool chinese = is_chinese(point);
    if (chinese) rewriting.put(" ", begin);
    rewriting.keep(begin, end);
    if (chinese) rewriting.put(" ", begin);
  });
  rewriting.finish();
}

void rewrite(Text& text, const Bert& bert) {
  if (bert.clean) clean(text);
  if (bert.chinese) isolate_chinese(text);
  if (bert.accents) {
    rewrite(text, NormalForm::d);
    filter(text, [](char32_t point) { return !is_nonspacing(point); });
  }
  if (bert.lowercase) rewrite(text, Lowercase{});
}

void rewrite(Text& text, const Replace& replace) {
  std::vector<Part> parts;
  replace.pattern.divide(text.bytes, parts);
  Rewriting rewriting(text);
  for (const auto& part : parts) {
    if (part.match)
      rewriting.put(replace.content, part.end > 0 ? part.end - 1 : 0);
    else
      rewriting.keep(part.begin, part.end);
  }
  rewriting.finish();
}

void rewrite(Text& text, const Prepend& prepend) {
  if (text.bytes.empty()) return;
  text.bytes.insert(0, prepend.text);
  if (text.first > 0) text.first += prepend.text.size();
}

void rewrite(Text& text, const Strip& strip) {
  const auto size = text.bytes.size();
  size_t first = size, last = 0;  // of what is no space
  for_each_character(text.bytes, [&](char32_t point, size_t begin, size_t end) {
    if (is_white_space(point)) return;
    first = std::min(first, begin);
    last = end;
  });
  const auto begin = strip.left ? first : 0;
  const auto end = strip.right ? std::max(last, begin) : size;
  text.bytes = text.bytes.substr(begin, end - begin);
  text.first = text.first > begin ? std::min(text.first, end) - begin : 0;
}

// A short cluster is looked up as a whole and else by its characters, as SentencePiece's port in
// `tokenizers` does it.
void rewrite(Text& text, const CharsMap& map) {
  constexpr size_t kShort = 6;
  Rewriting rewriting(text);
  const std::string_view bytes = text.bytes;
  size_t begin = 0;
  for (const auto end : grapheme_ends(bytes)) {
    const auto cluster = bytes.substr(begin, end - begin);
    const char* const whole = cluster.size() < kShort ? map.find(cluster) : nullptr;
    if (whole != nullptr) {
      rewriting.put(whole, begin);
    } else {
      for_each_character(cluster, [&](char32_t, size_t from, size_t to) {
        const char* const known = map.find(cluster.substr(from, to - from));
        if (known != nullptr)
          rewriting.put(known, begin + from);
        else
          rewriting.keep(begin + from, begin + to);
      });
    }
    begin = end;
  }
  rewriting.finish();
}

Bert read_bert(const Node& node) {
  node.allow({"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  const bool lowercase = node.flag("lowercase", true);
  return {node.flag("clean_text", true), node.flag("handle_chinese_chars", true),
          node.flag("strip_accents", lowercase), lowercase};
}

CharsMap read_chars_map(const Node& node) {
  node.allow({"precompiled_charsmap"});
  const auto table = node.at("precompiled_charsmap");
  try {
    return CharsMap(table.text());
  } catch (const TokenizerError& error) {
    table.refuse(error.what());
  }
}

}  // namespace

Replace read_replace(const Node& node) {
  node.allow({"pattern", "content"});
  return {Pattern(node.at("pattern")), node.at("content").text()};
}

Normalizer::Normalizer(const Node& node) { add(node); }

void Normalizer::add(const Node& node) {
  const auto type = node.type();
  if (type == "Sequence") {
    node.allow({"normalizers"});
    for (const auto& step : node.at("normalizers").list()) add(step);
  } else if (type == "BertNormalizer") {
    steps_.emplace_back(read_bert(node));
  } else if (type == "Replace") {
    steps_.emplace_back(read_replace(node));
  } else if (type == "Prepend") {
    node.allow({"prepend"});
    steps_.emplace_back(Prepend{node.at("prepend").text()});
  } else if (type == "Strip") {
    node.allow({"strip_left", "strip_right"});
    steps_.emplace_back(Strip{node.at("strip_left").flag(), node.at("strip_right").flag()});
  } else if (type == "Precompiled") {
    steps_.emplace_back(read_chars_map(node));
  } else {
    node.allow({});
    if (type == "NFC")
      steps_.emplace_back(NormalForm::c);
    else if (type == "NFD")
      steps_.emplace_back(NormalForm::d);
    else if (type == "NFKC")
      steps_.emplace_back(NormalForm::kc);
    else if (type == "NFKD")
      steps_.emplace_back(NormalForm::kd);
    else if (type == "Lowercase")
      steps_.emplace_back(Lowercase{});
    else if (type == "StripAccents")
      steps_.emplace_back(StripAccents{});
    else if (type == "Nmt")
      steps_.emplace_back(Nmt{});
    else if (type == "ByteLevel")
      steps_.emplace_back(ByteCharacters{});
    else
      node.refuse("is the normalizer '" + type + "', which is not supported");
  }
}

void Normalizer::normalize(Text& text) const {
  for (const auto& step : steps_) std::visit([&](const auto& one) { rewrite(text, one); }, step);
}

}  // namespace ablate::tokenizer::huggingface
