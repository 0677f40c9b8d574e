#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ablate::tokenizer {

// Characters by the tables of utf8proc. Ill-formed UTF-8 (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF) counts as U+FFFD, one for each maximal part of a character (Unicode
// 15, section 3.9).

bool valid_utf8(std::string_view text);

/// The code point at `offset`, which moves past it. REQUIRES: offset < text.size().
char32_t next_code_point(std::string_view text, size_t& offset);

std::u32string code_points(std::string_view text);

/// REQUIRES: `point` is a code point and no surrogate.
void append_utf8(std::string& text, char32_t point);

bool is_white_space(char32_t point);  // the property White_Space
bool is_letter(char32_t point);       // the categories L*
bool is_upper(char32_t point);        // Lu
bool is_digit(char32_t point);        // Nd
bool is_control(char32_t point);      // Cc
/// \w of regular expressions (Unicode Technical Standard 18): also marks, letter-like numbers and
/// symbols, joiners and underscores.
bool is_word_part(char32_t point);
/// The property Default_Ignorable_Code_Point: invisible characters.
bool is_default_ignorable(char32_t point);

/// Full case mapping without a language (Unicode 15, section 3.13): a capital sigma becomes the
/// final one at the end of a word.
std::string lower_case(std::string_view text);

/// Normalization form C.
std::string composed(std::string_view text);

}  // namespace ablate::tokenizer
