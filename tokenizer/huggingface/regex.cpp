#include "tokenizer/huggingface/regex.h"

#include <oniguruma.h>

#include <array>
#include <new>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

const OnigUChar* characters_of(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}

std::string message_of(int error, OnigErrorInfo* info = nullptr) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> text{};
  const int length = onig_error_code_to_str(text.data(), error, info);
  return {text.begin(), text.begin() + length};
}

/// Before the first expression, since Oniguruma would do it itself, but not for several threads.
void initialize() {
  static const int kDone = [] {
    OnigEncoding encoding = ONIG_ENCODING_UTF8;
    return onig_initialize(&encoding, 1);
  }();
  if (kDone != ONIG_NORMAL) throw std::bad_alloc();
}

/// Where a thread finds its matches.
struct Region {
  OnigRegion* found = onig_region_new();
  ~Region() { onig_region_free(found, /*free_self=*/1); }
};

/// Whether there is a match from `begin` on, which becomes the part.
bool find(OnigRegex code, std::string_view text, size_t begin, Part& part) {
  static thread_local const Region kRegion;
  const auto* const first = characters_of(text);
  const auto* const end = first + text.size();
  const int place =
      onig_search(code, first, end, first + begin, end, kRegion.found, ONIG_OPTION_NONE);
  if (place == ONIG_MISMATCH) return false;
  if (place < 0)
    throw TokenizerError("a regular expression of the tokenizer cannot divide a text: " +
                         message_of(place));
  part = {static_cast<uint32_t>(kRegion.found->beg[0]),
          static_cast<uint32_t>(kRegion.found->end[0]), true};
  // A match that \K or a lookaround turns around would never end.
  if (part.begin > part.end || part.begin < begin)
    throw TokenizerError("a regular expression of the tokenizer matches backwards");
  return true;
}

void close(std::vector<Part>& parts, uint32_t begin, size_t end) {
  if (begin != end) parts.push_back({begin, static_cast<uint32_t>(end), false});
}

}  // namespace

Regex::Regex(std::string_view pattern) {
  initialize();
  OnigRegex code = nullptr;
  OnigErrorInfo info{};
  const auto* const first = characters_of(pattern);
  const int error = onig_new(&code, first, first + pattern.size(), ONIG_OPTION_NONE,
                             ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
  if (error != ONIG_NORMAL)
    throw TokenizerError("is a regular expression that cannot be used: " +
                         message_of(error, &info));
  code_ = std::shared_ptr<re_pattern_buffer>(code, onig_free);
}

void Regex::divide(std::string_view text, std::vector<Part>& parts) const {
  parts.clear();
  if (text.empty()) return;  // where `tokenizers` looks for no match, be it an empty one
  uint32_t end = 0;          // of the last match
  bool matched = false;      // there is one
  Part part{};
  for (size_t begin = 0; begin <= text.size() && find(code_.get(), text, begin, part);) {
    // An empty match right behind another one does not count.
    if (part.begin == part.end && matched && part.end == end) {
      if (begin == text.size()) break;
      next_code_point(text, begin);
      continue;
    }
    close(parts, end, part.begin);
    parts.push_back(part);
    begin = end = part.end;
    matched = true;
  }
  close(parts, end, text.size());
}

Pattern::Pattern(const Node& node) : sought_(std::string()) {
  node.allow({"Regex", "String"});
  if (const auto literal = node.find("String")) {
    if (literal->text().empty()) literal->refuse("is empty");
    sought_ = literal->text();
    return;
  }
  const auto regex = node.at("Regex");
  try {
    sought_ = Regex(regex.text());
  } catch (const TokenizerError& error) {
    regex.refuse(error.what());
  }
}

void Pattern::divide(std::string_view text, std::vector<Part>& parts) const {
  if (const auto* const regex = std::get_if<Regex>(&sought_)) return regex->divide(text, parts);
  const auto& literal = std::get<std::string>(sought_);
  parts.clear();
  uint32_t end = 0;
  for (auto at = text.find(literal); at != std::string_view::npos; at = text.find(literal, end)) {
    close(parts, end, at);
    const auto begin = static_cast<uint32_t>(at);
    end = static_cast<uint32_t>(at + literal.size());
    parts.push_back({begin, end, true});
  }
  close(parts, end, text.size());
}

}  // namespace ablate::tokenizer::huggingface
