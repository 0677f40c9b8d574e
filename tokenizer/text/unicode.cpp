#include "tokenizer/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace ablate::tokenizer {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr char32_t kSigma = 0x3a3, kSmallSigma = 0x3c3, kFinalSigma = 0x3c2;
constexpr char32_t kDottedI = 0x130;

/// The code point at `offset`, which moves past it; negative if there is none.
int32_t decode(std::string_view text, size_t& offset) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(offset++);
  if (lead < 0x80) return static_cast<int32_t>(lead);
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const unsigned tails = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  // Bounds of the second byte, against overlong forms, surrogates and values beyond U+10FFFF.
  unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  unsigned point = lead & (0x3fU >> tails);
  for (unsigned i = 0; i < tails; ++i, ++offset) {
    if (offset == text.size() || byte(offset) < low || byte(offset) > high) return -1;
    point = point << 6U | (byte(offset) & 0x3fU);
    low = 0x80;
    high = 0xbf;
  }
  return static_cast<int32_t>(point);
}

utf8proc_category_t category(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

bool between(utf8proc_category_t category, utf8proc_category_t low, utf8proc_category_t high) {
  return category >= low && category <= high;
}

struct Range {
  char32_t low, high;
};

bool in_any(const auto& ranges, char32_t point) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return point >= range.low && point <= range.high; });
}

/// Letters in circles and squares, which are symbols, and Roman numerals, which are numbers.
constexpr std::array<Range, 5> kLetterLike = {{{0x2160, 0x217f},
                                               {0x24b6, 0x24e9},
                                               {0x1f130, 0x1f149},
                                               {0x1f150, 0x1f169},
                                               {0x1f170, 0x1f189}}};

/// The property Cased of a character that is not case-ignorable.
bool is_cased(char32_t point) {
  constexpr char32_t kFeminine = 0xaa, kMasculine = 0xba;  // ordinals
  return between(category(point), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT) ||
         point == kFeminine || point == kMasculine || in_any(kLetterLike, point);
}

/// The property Case_Ignorable.
bool is_case_ignorable(char32_t point) {
  constexpr std::u32string_view kWithinWords =
      U"'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";
  switch (category(point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return kWithinWords.find(point) != std::u32string_view::npos;
  }
}

/// Whether the first character that is not case-ignorable is a cased letter.
template <class Iterator>
bool begins_cased(Iterator begin, Iterator end) {
  const auto first = std::find_if_not(begin, end, is_case_ignorable);
  return first != end && is_cased(*first);
}

/// The condition Final_Sigma of the character at `place`.
bool ends_word(std::u32string_view points, size_t place) {
  const auto before = points.substr(0, place), after = points.substr(place + 1);
  return begins_cased(before.rbegin(), before.rend()) && !begins_cased(after.begin(), after.end());
}

}  // namespace

bool valid_utf8(std::string_view text) {
  for (size_t offset = 0; offset < text.size();)
    if (decode(text, offset) < 0) return false;
  return true;
}

char32_t next_code_point(std::string_view text, size_t& offset) {
  const auto point = decode(text, offset);
  return point < 0 ? kReplacement : static_cast<char32_t>(point);
}

size_t character_before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0U) == 0x80) --begin;
  return begin;
}

std::u32string code_points(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) points += next_code_point(text, offset);
  return points;
}

void append_utf8(std::string& text, char32_t point) {
  std::array<unsigned char, 4> bytes{};
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes.data());
  text.append(bytes.begin(), bytes.begin() + length);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

bool is_white_space(char32_t point) {
  constexpr std::array<Range, 10> kSpaces = {{{0x9, 0xd},
                                              {0x20, 0x20},
                                              {0x85, 0x85},
                                              {0xa0, 0xa0},
                                              {0x1680, 0x1680},
                                              {0x2000, 0x200a},
                                              {0x2028, 0x2029},
                                              {0x202f, 0x202f},
                                              {0x205f, 0x205f},
                                              {0x3000, 0x3000}}};
  return in_any(kSpaces, point);
}

bool is_letter(char32_t point) {
  return between(category(point), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool is_digit(char32_t point) { return category(point) == UTF8PROC_CATEGORY_ND; }

bool is_numeric(char32_t point) {
  return between(category(point), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_mark(char32_t point) {
  return between(category(point), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_nonspacing(char32_t point) { return category(point) == UTF8PROC_CATEGORY_MN; }

bool is_punctuation(char32_t point) {
  return between(category(point), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_invisible(char32_t point) {
  const auto kind = category(point);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
         kind == UTF8PROC_CATEGORY_CO;
}

bool is_control(char32_t point) { return category(point) == UTF8PROC_CATEGORY_CC; }

bool is_word_part(char32_t point) {
  const auto kind = category(point);
  const bool joiner = point == 0x200c || point == 0x200d;
  return between(kind, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_NL) ||
         kind == UTF8PROC_CATEGORY_PC || joiner || in_any(kLetterLike, point);
}

bool is_default_ignorable(char32_t point) {
  // utf8proc does not count those that are not assigned yet.
  constexpr std::array<Range, 3> kReserved = {
      {{0x2065, 0x2065}, {0xfff0, 0xfff8}, {0xe0000, 0xe0fff}}};
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(point))->ignorable != 0 ||
         in_any(kReserved, point);
}

namespace {

void append_lower(std::string& text, char32_t point) {
  if (point == kDottedI)  // the only one that becomes two
    text += "i\u0307";
  else
    append_utf8(text,
                static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
}

int options_of(NormalForm form) {
  switch (form) {
    case NormalForm::c:
      return UTF8PROC_COMPOSE;
    case NormalForm::d:
      return UTF8PROC_DECOMPOSE;
    case NormalForm::kc:
      return UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case NormalForm::kd:
      return UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  std::abort();
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string lower_case(std::string_view text) {
  const auto points = code_points(text);
  std::string lowered;
  lowered.reserve(text.size());
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i] == kSigma)
      append_utf8(lowered, ends_word(points, i) ? kFinalSigma : kSmallSigma);
    else
      append_lower(lowered, points[i]);
  }
  return lowered;
}

std::string lower_characters(std::string_view text) {
  std::string lowered;
  lowered.reserve(text.size());
  for (size_t offset = 0; offset < text.size();)
    append_lower(lowered, next_code_point(text, offset));
  return lowered;
}

std::string in_normal_form(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  std::string valid;
  for (const auto point : code_points(text)) append_utf8(valid, point);
  utf8proc_uint8_t* found = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()), std::ssize(valid),
                   &found, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options_of(form)));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(found, std::free);
  if (length < 0) throw std::runtime_error(utf8proc_errmsg(length));
  return {found, found + length};
}

std::vector<size_t> grapheme_ends(std::string_view text) {
  std::vector<size_t> ends;
  utf8proc_int32_t state = 0, before = 0;
  for (size_t offset = 0; offset < text.size();) {
    const auto begin = offset;
    const auto point = static_cast<utf8proc_int32_t>(next_code_point(text, offset));
    if (begin > 0 && utf8proc_grapheme_break_stateful(before, point, &state)) ends.push_back(begin);
    before = point;
  }
  if (!text.empty()) ends.push_back(text.size());
  return ends;
}

}  // namespace ablate::tokenizer
