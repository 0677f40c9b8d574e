#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::tokenizer {

// Characters by the tables of utf8proc. Ill-formed UTF-8 (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF) counts as U+FFFD, one for each maximal part of a character (Unicode
// 15, section 3.9).

bool valid_utf8(std::string_view text);

/// The code point at `offset`, which moves past it. REQUIRES: offset < text.size().
char32_t next_code_point(std::string_view text, size_t& offset);

/// Calls visit(point, begin, end) for each character, which takes the bytes [begin, end).
void for_each_character(std::string_view text, const auto& visit) {
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    const auto point = next_code_point(text, end);
    visit(point, begin, end);
  }
}

/// Where the last character of the text before `end` begins. REQUIRES: end > 0, well-formed text.
size_t character_before(std::string_view text, size_t end);

std::u32string code_points(std::string_view text);

/// REQUIRES: `point` is a code point and no surrogate.
void append_utf8(std::string& text, char32_t point);

/// Replaces every `from`, if that is not empty.
void replace_all(std::string& text, std::string_view from, std::string_view to);

bool is_white_space(char32_t point);  // the property White_Space
bool is_letter(char32_t point);       // the categories L*
bool is_digit(char32_t point);        // Nd
bool is_numeric(char32_t point);      // N*
bool is_mark(char32_t point);         // M*
bool is_nonspacing(char32_t point);   // Mn
bool is_punctuation(char32_t point);  // P*
bool is_control(char32_t point);      // Cc
bool is_invisible(char32_t point);    // Cc, Cf and Co: control, format and private use
/// \w of regular expressions (Unicode Technical Standard 18): also marks, letter-like numbers and
/// symbols, joiners and underscores.
bool is_word_part(char32_t point);
/// The property Default_Ignorable_Code_Point: invisible characters.
bool is_default_ignorable(char32_t point);

/// Full case mapping without a language (Unicode 15, section 3.13): a capital sigma becomes the
/// final one at the end of a word.
std::string lower_case(std::string_view text);

/// The text with every character in lower case by itself, wherever it stands in its word.
std::string lower_characters(std::string_view text);

enum class NormalForm { c, d, kc, kd };

/// The text in a normalization form (Unicode 15, section 3.11).
std::string in_normal_form(std::string_view text, NormalForm form);

/// The bytes of `text` before which grapheme clusters end (Unicode Standard Annex 29), the last of
/// them its size.
std::vector<size_t> grapheme_ends(std::string_view text);

}  // namespace ablate::tokenizer
