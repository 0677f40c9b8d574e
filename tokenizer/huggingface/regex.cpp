#include "tokenizer/huggingface/regex.h"

#include <pcre2.h>

#include <array>
#include <stdexcept>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

constexpr size_t kLongestPattern = 65536;
constexpr size_t kFirstStack = 32768, kLargestStack = size_t{8} << 20U;

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

template <class T>
T* must(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

template <auto Free>
struct Freed {
  void operator()(auto* held) const { Free(held); }
};

/// What one thread needs in order to match, whatever the expression.
struct Matcher {
  std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>> data{
      must(pcre2_match_data_create(1, nullptr))};
  std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack_free>> stack{
      pcre2_jit_stack_create(kFirstStack, kLargestStack, nullptr)};
  std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>> context{
      must(pcre2_match_context_create(nullptr))};

  Matcher() {
    if (stack) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }

  /// Whether there is a match from `begin` on, which becomes the part.
  bool find(const pcre2_code* code, std::string_view text, size_t begin, Part& part) const {
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  begin, PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (found == PCRE2_ERROR_NOMATCH) return false;
    if (found < 0)
      throw TokenizerError("a regular expression of the tokenizer cannot divide a text: " +
                           message_of(found));
    const auto* const ends = pcre2_get_ovector_pointer(data.get());
    // A match that \K or a lookaround turns around would never end.
    if (ends[0] > ends[1] || ends[0] < begin)
      throw TokenizerError("a regular expression of the tokenizer matches backwards");
    part = {static_cast<uint32_t>(ends[0]), static_cast<uint32_t>(ends[1]), true};
    return true;
  }
};

void close(std::vector<Part>& parts, uint32_t begin, size_t end) {
  if (begin != end) parts.push_back({begin, static_cast<uint32_t>(end), false});
}

}  // namespace

Regex::Regex(std::string_view pattern) {
  if (pattern.size() > kLongestPattern)
    throw TokenizerError("is a regular expression of more than 65536 bytes");
  const auto own = pcre2_syntax(pattern);
  const std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context_free>> context(
      must(pcre2_compile_context_create(nullptr)));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  size_t place = 0;
  auto* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(own.data()), own.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
                    &place, context.get());
  if (code == nullptr)
    throw TokenizerError("is a regular expression that cannot be used: " + message_of(error));
  code_ = std::shared_ptr<const void>(code, [](pcre2_code* held) { pcre2_code_free(held); });
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without it, matching is only slower
}

void Regex::divide(std::string_view text, std::vector<Part>& parts) const {
  static thread_local const Matcher kMatcher;
  parts.clear();
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  uint32_t end = 0;      // of the last match
  bool matched = false;  // there is one
  Part part{};
  for (size_t begin = 0; begin <= text.size() && kMatcher.find(code, text, begin, part);) {
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
