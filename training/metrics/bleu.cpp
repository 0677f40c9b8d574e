#include "training/metrics/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "tokenizer/text/unicode.h"
#include "training/metrics/unicode_text.h"

namespace ablate::training {
namespace {

std::vector<std::string> tokens(const std::string& line, BleuOptions options) {
  return tokenize_13a(options.lowercase ? strip_end(tokenizer::lower_case(line)) : strip_end(line));
}

double brevity_penalty(const BleuStatistics& s) {
  if (s.hypothesis_length >= s.reference_length) return 1;
  if (s.hypothesis_length == 0) return 0;
  return std::exp(1 - static_cast<double>(s.reference_length) /
                          static_cast<double>(s.hypothesis_length));
}

/// Each order without a match counts as half a match of the order without one before it.
std::array<double, 4> smoothed_precisions(const BleuStatistics& s) {
  std::array<double, 4> precisions{};
  double smoothing = 1;
  for (size_t n = 0; n < precisions.size() && s.total[n] > 0; ++n) {
    const auto total = static_cast<double>(s.total[n]);
    if (s.correct[n] == 0) smoothing *= 2;
    precisions[n] = s.correct[n] == 0 ? 100 / (smoothing * total)
                                      : 100 * static_cast<double>(s.correct[n]) / total;
  }
  return precisions;
}

}  // namespace

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  for (size_t n = 0; n < correct.size(); ++n) {
    correct[n] += other.correct[n];
    total[n] += other.total[n];
  }
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  reference_fours += other.reference_fours;
  return *this;
}

BleuStatistics bleu_statistics(const std::string& hypothesis, const std::string& reference,
                               BleuOptions options) {
  const auto left = tokens(hypothesis, options);
  const auto right = tokens(reference, options);
  BleuStatistics s{.hypothesis_length = static_cast<int64_t>(left.size()),
                   .reference_length = static_cast<int64_t>(right.size()),
                   .reference_fours = ngram_count(right.size(), 4)};
  for (size_t n = 0; n < s.total.size(); ++n) {
    s.total[n] = ngram_count(left.size(), n + 1);
    s.correct[n] = ngram_matches<std::string>(left, right, n + 1);
  }
  return s;
}

BleuScore bleu(const BleuStatistics& s, BleuOptions options) {
  BleuScore result{.defined = s.reference_fours > 0,
                   .brevity_penalty = brevity_penalty(s),
                   .hypothesis_length = s.hypothesis_length,
                   .reference_length = s.reference_length,
                   .signature = fmt::format("nrefs:1|case:{}|eff:no|tok:13a|smooth:exp|version:{}",
                                            options.lowercase ? "lc" : "mixed", kSacrebleuVersion)};
  if (std::ranges::all_of(s.correct, [](int64_t count) { return count == 0; })) return result;
  result.precisions = smoothed_precisions(s);
  double logarithms = 0;
  for (const double precision : result.precisions) logarithms += std::log(precision);
  result.score = result.brevity_penalty * std::exp(logarithms / 4);
  return result;
}

BleuScore bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
               BleuOptions options) {
  if (hypotheses.size() != references.size())
    throw std::invalid_argument(fmt::format("BLEU of {} hypotheses and {} references",
                                            hypotheses.size(), references.size()));
  BleuStatistics sum;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    sum += bleu_statistics(hypotheses[i], references[i], options);
  return bleu(sum, options);
}

namespace {

// The rules look at single bytes: every character that they distinguish is ASCII, and a byte of a
// longer UTF-8 sequence is "not a digit" as its character is.

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
