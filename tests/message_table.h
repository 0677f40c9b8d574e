#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ablate {

/// A row of a table of messages, which is a file that reads:
///
///     === What the rows below it have in common
///     lines with which the text of each of them begins
///     --- NameOfARow
///     the text of the row
///     --flag value
///     => a line of what the program says of the text with these flags
///     => the next line
///
/// What stands before the first "===" says what the table is about.
struct MessageRow {
  /// The values of a flag that may be given several times, such as "--set".
  std::vector<std::string> values(const std::string& flag) const {
    std::vector<std::string> found;
    for (const auto& [given, value] : flags)
      if (given == flag) found.push_back(value);
    return found;
  }

  std::string name, text, expected;
  std::vector<std::pair<std::string, std::string>> flags;
  int line = 0;  // of its name
};

/// What the program says of a row: one line or several, without the last line end.
using Answer = std::function<std::string(const MessageRow&)>;

class MessageTable {
 public:
  explicit MessageTable(const std::filesystem::path& file) : file_(file) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) read(line);
    EXPECT_FALSE(rows_.empty()) << file;
  }

  /// Compares every row with what the program says, which takes its place in the file if the test
  /// is started with --update.
  void check(const Answer& answer) const {
    std::ostringstream updated;
    size_t row = 0;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (!lines_[i].starts_with(kArrow)) updated << lines_[i] << "\n";
      if (row == rows_.size() || i + 1 != ends_[row]) continue;
      const auto said = answer(rows_[row]);
      if (!is_update()) {
        EXPECT_EQ(said, rows_[row].expected)
            << file_.string() << ":" << rows_[row].line << ": " << rows_[row].name;
      }
      std::istringstream words(said);
      for (std::string line; std::getline(words, line);) updated << kArrow << line << "\n";
      ++row;
    }
    if (is_update()) std::ofstream(file_) << updated.str();
  }

 private:
  static constexpr const char* kArrow = "=> ";

  static bool is_update() {
    const auto& words = testing::internal::GetArgvs();
    return std::find(words.begin(), words.end(), "--update") != words.end();
  }

  void read(const std::string& line) {
    lines_.push_back(line);
    if (line.starts_with("=== ")) {
      beginning_ = "";
      in_row_ = false;
      in_section_ = true;
    } else if (line.starts_with("--- ")) {
      rows_.push_back({.name = line.substr(4), .text = beginning_, .line = int(lines_.size())});
      ends_.push_back(lines_.size());
      in_row_ = true;
    } else if (!line.empty() && in_row_) {
      read_row(line);
    } else if (!line.empty() && in_section_) {
      beginning_ += line + "\n";
    }
  }

  void read_row(const std::string& line) {
    auto& row = rows_.back();
    const auto blank = line.find(' ');
    if (line.starts_with(kArrow)) {
      row.expected += (row.expected.empty() ? "" : "\n") + line.substr(3);
    } else if (line.starts_with("--") && blank > 3 && blank != line.npos) {
      row.flags.emplace_back(line.substr(0, blank), line.substr(blank + 1));
    } else {
      row.text += line + "\n";
    }
    ends_.back() = lines_.size();
  }

  std::filesystem::path file_;
  std::vector<std::string> lines_;
  std::vector<MessageRow> rows_;
  std::vector<size_t> ends_;  // the number of the last line of each row
  std::string beginning_;
  bool in_section_ = false, in_row_ = false;
};

}  // namespace ablate
