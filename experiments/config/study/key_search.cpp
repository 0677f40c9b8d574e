#include "experiments/config/study/key_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <vector>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/study_file.h"

namespace ablate::config {
namespace {

struct Sentence {
  std::string path;  // of a kind or a word "path: word"
  std::string about;
  bool is_key;

  std::string name() const { return is_key ? last_key(path) : path.substr(path.rfind(' ') + 1); }
};

/// Lower case, with a space for everything but letters and digits, and one at both ends.
std::string plain_words(const std::string& text) {
  std::string plain = " ";
  for (const char byte : text) {
    const auto letter = static_cast<unsigned char>(byte);
    plain += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : ' ';
  }
  return plain + " ";
}

/// The words of `text` that say something, without the s of a plural.
std::vector<std::string> sought_words(const std::string& text) {
  static const std::set<std::string> kSmall{"a", "an", "and", "by", "for", "in", "of", "the", "to"};
  std::vector<std::string> words;
  std::istringstream stream(plain_words(text));
  for (std::string word; stream >> word;) {
    if (kSmall.contains(word)) continue;
    if (word.size() > 3 && word.ends_with('s')) word.pop_back();
    words.push_back(" " + word);
  }
  return words;
}

void collect(const Schema& schema, const std::string& path, std::vector<Sentence>& entries) {
  const bool is_variant = schema.type == Schema::Type::variant;
  const auto word_path = is_variant ? join_path(path, schema.discriminator) : path;
  for (size_t i = 0; i < schema.abouts.size(); ++i)
    entries.push_back({word_path + ": " + schema.choices[i], schema.abouts[i], false});
  if (schema.type == Schema::Type::list) return collect(schema.children[0], path, entries);
  if (schema.of_layer) return;  // as in the model
  for (const auto& child : schema.children) {
    const bool is_base = path.empty() && child.name == "base";  // paths start below it
    const auto at = is_variant ? path : is_base ? "" : join_path(path, child.name);
    if (!is_variant) entries.push_back({at, child.description, true});
    collect(child, at, entries);
  }
}

std::vector<Sentence> all_sentences() {
  std::vector<Sentence> entries;
  collect(study_schema(), "", entries);
  return entries;
}

}  // namespace

std::vector<std::string> names_of_entries() {
  std::vector<std::string> names;
  for (const auto& entry : all_sentences()) names.push_back(entry.name());
  return names;
}

std::string keys_that_say(const std::string& text) {
  const auto words = sought_words(text);
  if (words.empty() || text.find('.') != std::string::npos) return {};
  auto entries = all_sentences();
  std::set<std::string> seen;
  std::erase_if(entries, [&](const Sentence& entry) {
    const auto said = plain_words(entry.path + " " + entry.about);
    const auto has = [&](const std::string& word) { return said.find(word) != std::string::npos; };
    return entry.path.empty() || !std::ranges::all_of(words, has) ||
           !seen.insert(last_key(entry.path) + entry.about).second;
  });
  const auto is_other = [&](const Sentence& entry) { return entry.name() != text; };
  if (!std::ranges::all_of(entries, is_other)) std::erase_if(entries, is_other);
  std::stable_partition(entries.begin(), entries.end(),
                        [](const Sentence& entry) { return !entry.is_key; });
  std::string lines;
  for (const auto& [path, about, is_key] : entries)
    lines += fmt::format("{}\n    {}\n", path, about);
  return lines;
}

}  // namespace ablate::config
