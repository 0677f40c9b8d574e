#include "experiments/config/schema/foreign_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "experiments/carried_texts.h"
#include "experiments/config/yaml/document.h"
#include "experiments/config/yaml/suggestion.h"

namespace ablate::config {
namespace {

/// In lower case, with _ for -.
std::string plain(std::string_view word) {
  std::string text(word);
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (letter == '-') letter = '_';
  }
  return text;
}

std::string with_remark(std::string text, std::string_view remark) {
  return remark.empty() ? text : fmt::format("{}: {}", text, remark);
}

/// An entry for each word.
std::vector<ForeignWord> read_words() {
  const auto& file = foreign_word_lists().front();
  ProblemList problems;
  const auto document =
      parse_document(std::make_shared<const Source>(file.name, file.text), problems);
  problems.raise();
  std::vector<ForeignWord> words;
  for (const auto& row : document.items) {
    const auto cell = [&](std::string_view key) {
      const auto* entry = row.find(key);
      return entry == nullptr ? std::string() : entry->value.scalar;
    };
    std::istringstream list(cell("words"));
    for (std::string word; list >> word;)
      words.push_back({word, cell("path"), cell("value"), cell("remark")});
  }
  return words;
}

}  // namespace

std::span<const ForeignWord> foreign_words() {
  static const auto words = read_words();
  return words;
}

std::string answer_text(const ForeignWord& word) {
  if (word.path.empty()) return word.remark;
  if (word.value.empty()) return with_remark(word.path, word.remark);
  const auto what = word.path == kMetricPath ? "the metric" : fmt::format("{}:", word.path);
  return fmt::format("{} {}{}", what, word.value,
                     word.remark.empty() ? "" : fmt::format(" ({})", word.remark));
}

const ForeignWord* find_foreign_word(std::string_view word) {
  const auto words = foreign_words();
  const auto found = std::ranges::find(words, plain(word), &ForeignWord::word);
  return found == words.end() ? nullptr : &*found;
}

std::string hint_for_foreign_key(std::string_view key) {
  const auto* word = find_foreign_word(key);
  if (word == nullptr) return {};
  return fmt::format("; {}{}", word->path.empty() ? "" : "here it is ", answer_text(*word));
}

std::string hint_for_misspelt_foreign_key(std::string_view key) {
  std::vector<std::string> keys;
  for (const auto& word : foreign_words())
    if (word.value.empty() && !word.path.empty()) keys.emplace_back(word.word);
  const auto* word = find_foreign_word(nearest(plain(key), keys));
  if (word == nullptr) return {};
  return fmt::format("; did you mean {}? Here it is {}", word->word, answer_text(*word));
}

std::string hint_for_foreign_value(std::string_view path, std::string_view value) {
  const auto* word = find_foreign_word(value);
  if (word == nullptr || word->value.empty()) return {};
  if (word->path != path) return hint_for_foreign_key(value);
  return fmt::format("; write {}", with_remark(word->value, word->remark));
}

std::string hint_for_value(std::string_view path, std::string_view value,
                           const std::vector<std::string>& known) {
  auto hint = hint_for_foreign_value(path, value);
  return hint.empty() ? did_you_mean(value, known) : hint;
}

}  // namespace ablate::config
