#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/data_options.h"
#include "data/text_file.h"

namespace ablate::data {

/// The texts of some columns of a row, or the fault for which the row cannot be used.
struct TableRow {
  int64_t line = 0;                // at which it begins, from 1 on
  std::vector<std::string> texts;  // one of each column; may hold line breaks
  std::string fault;               // empty: the row is good
};

/// Reads chosen columns of a file whose rows are named: CSV (RFC 4180) and TSV without quotes
/// (IANA), which begin with the names, and JSON Lines, whose objects may be nested: a column that
/// begins with a slash is a JSON pointer (RFC 6901). Plain or gzip. If no column is named, the file
/// is one without names whose rows are pairs.
class TableReader {
 public:
  /// Throws DataError if the file cannot be opened, its first line does not name each of `columns`
  /// once, or one of them begins with a slash but is not a valid JSON pointer.
  TableReader(const std::filesystem::path& file, TableFormat format,
              std::vector<std::string> columns, int64_t max_line_bytes);

  /// The next row; nullopt at the end. Possible faults: those of a line (text_file.h), a quote that
  /// is not closed or not around a whole field, a wrong number of fields, a line that is not a JSON
  /// object, and a value that is missing or neither a string nor an integer or boolean, which count
  /// as their text. Throws DataError if the file is a JSON array instead of JSON Lines.
  std::optional<TableRow> next();

  /// "file.csv:3: ", the place of a line.
  std::string place(int64_t line) const;

 private:
  /// The fields of a row of CSV or TSV, all of them.
  std::optional<TableRow> fields();
  TableRow chosen(TableRow row) const;
  TableRow chosen_of_object(const Line& line) const;
  void check_pointers() const;
  void read_names();

  std::filesystem::path file_;
  LineReader lines_;
  TableFormat format_;
  std::vector<std::string> columns_;
  int64_t max_line_bytes_;
  std::vector<size_t> places_;  // of the columns among the fields
  size_t names_ = 2;            // fields of a row
  int64_t line_ = 0;            // lines read
};

}  // namespace ablate::data
