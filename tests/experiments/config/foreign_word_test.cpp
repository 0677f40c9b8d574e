#include "experiments/config/schema/foreign_word.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/study_file.h"
#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

/// Whether `path` is the key of a run or of a study, or the key that names a section's kind.
bool is_key(const std::string& path) {
  const auto& run = experiment_schema();
  if (node_at(run, path) != nullptr || node_at(study_schema(), path) != nullptr) return true;
  const auto* section = node_at(run, path.substr(0, path.rfind('.')));
  return section != nullptr && section->discriminator == last_key(path);
}

/// What a study says in which this key has this value.
std::string messages_with(std::string_view key, std::string_view value) {
  const auto data = key.starts_with("data.") ? "" : "  data: copy\n";
  return messages_of(fmt::format("{}base:\n{}  {}: {}\n", kHead, data, key, value));
}

TEST(ForeignWords, LeadToKeysThatAreThere) {
  for (const auto& word : foreign_words()) {
    if (word.path.empty())
      EXPECT_FALSE(word.remark.empty()) << word.word;
    else
      EXPECT_TRUE(is_key(std::string(word.path))) << word.word << ": " << word.path;
  }
}

TEST(ForeignWords, LeadToValuesThatTheirKeysTake) {
  for (const auto& word : foreign_words()) {
    if (word.value.empty()) continue;
    if (word.path == kMetricPath) {
      EXPECT_NE(find_metric(word.value), nullptr) << word.word;
      continue;
    }
    const auto messages = messages_with(word.path, word.value);
    EXPECT_FALSE(says(messages, "unknown")) << word.word << "\n" << messages;
    EXPECT_FALSE(says(messages, "must be a")) << word.word << "\n" << messages;
  }
}

TEST(ForeignWords, AreNoneOfOurs) {
  for (const auto& word : foreign_words()) {
    // A key that is ours is so in another section than the one that the word leads to.
    const auto section = word.path.substr(0, word.path.find('.') + 1);
    for (const auto& own : paths_of(experiment_schema(), word.word))
      EXPECT_FALSE(own.starts_with(section)) << word.word << " is " << own;
    EXPECT_EQ(find_metric(word.word), nullptr) << word.word;
    if (word.value.empty() || word.path == kMetricPath) continue;
    if (word.word == word.value) continue;  // of which its key is another project's
    EXPECT_NE(messages_with(word.path, word.word), "") << word.word << " is one of " << word.path;
  }
}

TEST(ForeignWords, StandInTheTableOnce) {
  std::vector<std::string_view> words;
  for (const auto& word : foreign_words()) words.push_back(word.word);
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST(ForeignWords, AreReadInAnyCaseAndWithHyphens) {
  ASSERT_NE(find_foreign_word("RoPE"), nullptr);
  EXPECT_EQ(find_foreign_word("RoPE"), find_foreign_word("rope"));
  EXPECT_EQ(find_foreign_word("batch-size"), find_foreign_word("batch_size"));
  EXPECT_EQ(find_foreign_word("peak"), nullptr);
}

}  // namespace
}  // namespace ablate::config
