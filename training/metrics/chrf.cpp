#include "training/metrics/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "tokenizer/text/unicode.h"
#include "training/metrics/bleu.h"
#include "training/metrics/unicode_text.h"

namespace ablate::training {
namespace {

bool punctuation(char32_t c) {
  return c < 0x80 &&
         std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(static_cast<char>(c)) !=
             std::string_view::npos;
}

/// One line as chrF counts it.
struct Line {
  std::u32string characters;          // without white space
  std::vector<std::u32string> words;  // punctuation at one end set apart
};

Line read_line(const std::string& text, ChrfOptions options) {
  const auto lowered = options.lowercase ? tokenizer::lower_case(text) : text;
  Line line;
  for (const auto part : split_words(lowered)) {
    const auto word = tokenizer::code_points(part);
    line.characters += word;
    if (word.size() > 1 && punctuation(word.back())) {
      line.words.push_back(word.substr(0, word.size() - 1));
      line.words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && punctuation(word.front())) {
      line.words.push_back(word.substr(0, 1));
      line.words.push_back(word.substr(1));
    } else {
      line.words.push_back(word);
    }
  }
  return line;
}

template <class Symbol>
void count(std::span<const Symbol> hypothesis, std::span<const Symbol> reference, int64_t most,
           ChrfStatistics& statistics) {
  for (size_t n = 1; n <= static_cast<size_t>(most); ++n) {
    const auto expected = ngram_count(reference.size(), n);
    // An order that the reference is too short for does not count against the hypothesis.
    statistics.orders.push_back({expected > 0 ? ngram_count(hypothesis.size(), n) : 0, expected,
                                 ngram_matches(hypothesis, reference, n)});
  }
}

}  // namespace

ChrfStatistics& ChrfStatistics::operator+=(const ChrfStatistics& other) {
  orders.resize(std::max(orders.size(), other.orders.size()));
  for (size_t i = 0; i < other.orders.size(); ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].matches += other.orders[i].matches;
  }
  return *this;
}

ChrfStatistics chrf_statistics(const std::string& hypothesis, const std::string& reference,
                               ChrfOptions options) {
  const auto left = read_line(hypothesis, options);
  const auto right = read_line(reference, options);
  ChrfStatistics statistics;
  count<char32_t>(left.characters, right.characters, options.character_order, statistics);
  count<std::u32string>(left.words, right.words, options.word_order, statistics);
  return statistics;
}

ChrfScore chrf(const ChrfStatistics& statistics, ChrfOptions options) {
  double precision = 0, recall = 0;
  for (const auto& order : statistics.orders) {
    if (order.hypothesis == 0 || order.reference == 0) continue;
    precision += static_cast<double>(order.matches) / static_cast<double>(order.hypothesis);
    recall += static_cast<double>(order.matches) / static_cast<double>(order.reference);
  }
  const auto used = std::ranges::count_if(statistics.orders, [](const auto& order) {
    return order.hypothesis > 0 && order.reference > 0;
  });
  ChrfScore result{
      .defined = std::ranges::any_of(statistics.orders,
                                     [](const auto& order) { return order.reference > 0; }),
      .signature = fmt::format("nrefs:1|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:{}",
                               options.lowercase ? "lc" : "mixed", options.character_order,
                               options.word_order, kSacrebleuVersion)};
  if (precision + recall == 0) return result;
  precision /= static_cast<double>(used);
  recall /= static_cast<double>(used);
  const auto factor = static_cast<double>(options.beta * options.beta);
  result.score = 100 * (1 + factor) * precision * recall / (factor * precision + recall);
  return result;
}

ChrfScore chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
               ChrfOptions options) {
  if (hypotheses.size() != references.size())
    throw std::invalid_argument(fmt::format("chrF of {} hypotheses and {} references",
                                            hypotheses.size(), references.size()));
  ChrfStatistics sum;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    sum += chrf_statistics(hypotheses[i], references[i], options);
  return chrf(sum, options);
}

}  // namespace ablate::training
