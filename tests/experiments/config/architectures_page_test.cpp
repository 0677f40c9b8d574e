#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

/// A row of the table of docs/architectures.md.
struct Row {
  std::string name, families, key, remark;
};

std::string without_blanks(const std::string& cell) {
  const auto first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
  return first == std::string::npos ? "" : cell.substr(first, last - first + 1);
}

std::vector<Row> rows() {
  std::ifstream page(std::string(ABLATE_SOURCE) + "/docs/architectures.md");
  std::vector<Row> found;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(1));
    Row row;
    for (auto* cell : {&row.name, &row.families, &row.key, &row.remark})
      std::getline(cells, *cell, '|');
    row.name = without_blanks(row.name);
    row.key = without_blanks(row.key);
    found.push_back(row);
  }
  return found;
}

std::string key_of(const ForeignWord& word) {
  if (word.path.empty()) return "none";
  return std::string(word.path) + (word.value.empty() ? "" : ": ") + std::string(word.value);
}

TEST(ArchitecturesPage, SaysWhatTheProgramSaysOfEveryName) {
  EXPECT_GT(rows().size(), 8);
  for (const auto& row : rows()) {
    if (const auto* word = find_foreign_word(row.name)) {
      EXPECT_EQ(row.key, key_of(*word)) << row.name;
      EXPECT_TRUE(says(row.remark, word->remark)) << row.name << row.remark;
    } else {
      EXPECT_EQ(row.name, last_key(row.key));
      EXPECT_NE(node_at(experiment_schema(), row.key), nullptr) << row.key;
    }
  }
}

}  // namespace
}  // namespace ablate::config
