#include "training/metrics/tokenizer_13a.h"

#include <cstddef>

#include "training/metrics/unicode_text.h"

namespace ablate::training {
namespace {

// The rules look at single bytes: every character they tell apart is ASCII, and a byte of a longer
// UTF-8 sequence is "not a digit" just as its character is.

bool digit(char c) { return c >= '0' && c <= '9'; }
bool point(char c) { return c == '.' || c == ','; }

bool symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string set_symbols_apart(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (symbol(c)) {
      result += ' ';
      result += c;
      result += ' ';
    } else {
      result += c;
    }
  }
  return result;
}

/// Puts `between` for every two neighbours that `matches` holds for, left to right without overlap:
/// before, between and after them.
struct Spaces {
  std::string_view before, between, after;
};
template <class Matches>
std::string space_pairs(const std::string& text, Matches matches, Spaces spaces) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      result.append(spaces.before).append(1, text[i]).append(spaces.between);
      result.append(1, text[++i]).append(spaces.after);
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  text = set_symbols_apart(' ' + text + ' ');
  text = space_pairs(text, [](char a, char b) { return !digit(a) && point(b); }, {"", " ", " "});
  text = space_pairs(text, [](char a, char b) { return point(a) && !digit(b); }, {" ", " ", ""});
  text = space_pairs(text, [](char a, char b) { return digit(a) && b == '-'; }, {"", " ", " "});
  const auto words = split_words(text);
  return {words.begin(), words.end()};
}

}  // namespace ablate::training
