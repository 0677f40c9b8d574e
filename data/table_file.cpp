#include "data/table_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/corpus.h"
#include "data/foreign_form.h"

namespace ablate::data {
namespace {

constexpr std::string_view kMisplacedQuote =
    "a quote stands where none may: it encloses a whole field, and is doubled within one";

/// Splits lines of CSV or TSV, which has no quotes, into the fields of one row.
class SplitRow {
 public:
  explicit SplitRow(TableFormat format)
      : separator_(format == TableFormat::tsv ? '\t' : ','),
        quote_(format == TableFormat::tsv ? '\0' : '"') {}

  /// Whether the row ends with this line; otherwise a quoted field goes on in the next one.
  bool add(std::string_view line) {
    if (state_ == State::quoted)
      fields_.back() += '\n';
    else
      fields_.emplace_back();
    std::ranges::for_each(line, [this](char c) { take(c); });
    return state_ != State::quoted;
  }
  std::vector<std::string> fields() && { return std::move(fields_); }
  bool misplaced_quote() const { return misplaced_; }

 private:
  enum class State { begin, plain, quoted, closed };

  void take(char c) {
    if (state_ == State::quoted) {
      if (c == quote_)
        state_ = State::closed;
      else
        fields_.back() += c;
      return;
    }
    if (c == separator_) {
      fields_.emplace_back();
      state_ = State::begin;
    } else if (c == quote_ && state_ != State::plain) {
      if (state_ == State::closed) fields_.back() += c;  // a doubled quote
      state_ = State::quoted;
    } else {
      misplaced_ = misplaced_ || c == quote_ || state_ == State::closed;
      fields_.back() += c;
      state_ = State::plain;
    }
  }

  char separator_;
  char quote_;  // NUL if the format has none, since no line has a NUL
  std::vector<std::string> fields_;
  State state_ = State::begin;
  bool misplaced_ = false;
};

/// Why a row without names is no pair, and the remedy if the file's name tells one.
std::string why_no_pair(const std::filesystem::path& file) {
  const auto remedy = remedy_for_name(file);
  return "the line needs exactly one tab between source and target" +
         (remedy.empty() ? "" : "; by its name the file has another form: " + remedy);
}

std::string fault_in(const Line& line) {
  return line.fault + (line.cut ? " (data.max_line_bytes)" : "");
}

/// The first character that is no space; 0 if there is none.
char first_sign(const std::string& line) {
  const auto at = line.find_first_not_of(" \t");
  return at == std::string::npos ? '\0' : line[at];
}

/// Why a line, read as `json`, is no JSON object.
std::string why_no_object(const nlohmann::json& json, const std::string& line) {
  if (!json.is_discarded())
    return fmt::format("the line is no JSON object but {} {}", json.is_array() ? "an" : "a",
                       json.type_name());
  try {
    return nlohmann::json::parse(line).type_name();
  } catch (const nlohmann::json::exception& error) {
    const std::string_view why = error.what();
    return why.find("invalid string: surrogate") == std::string_view::npos
               ? "the line is no JSON object"
               : "the line holds half of a surrogate pair (\\ud800 to \\udfff without its other "
                 "half), which is no character";
  }
}

/// Adds a value as its text, as a CSV file has it: a class may be a number.
void add_text(const nlohmann::json& value, const std::string& column, TableRow& row) {
  if (value.is_string())
    row.texts.push_back(value.get<std::string>());
  else if (value.is_number_integer() || value.is_boolean())
    row.texts.push_back(value.dump());
  else
    row.fault = fmt::format("'{}' is no string and no whole number, but {}", column,
                            value.is_number() ? value.dump() : value.type_name());
  if (row.fault.empty() && row.texts.back().find('\0') != std::string::npos)
    row.fault = fmt::format("'{}' holds a NUL character", column);
}

using Pointer = nlohmann::json::json_pointer;

/// Throws nlohmann::json::exception if a column begins with a slash but is no JSON pointer.
Pointer pointer_to(const std::string& column) {
  return column.starts_with('/') ? Pointer(column) : Pointer() / column;
}

}  // namespace

TableReader::TableReader(const std::filesystem::path& file, TableFormat format,
                         std::vector<std::string> columns, int64_t max_line_bytes)
    : file_(file),
      lines_(GzipFile(file), max_line_bytes),
      format_(format),
      columns_(std::move(columns)),
      max_line_bytes_(max_line_bytes) {
  if (format_ == TableFormat::jsonl)
    check_pointers();
  else if (columns_.empty())
    places_ = {0, 1};
  else
    read_names();
}

std::string TableReader::place(int64_t line) const {
  return fmt::format("{}:{}: ", file_.string(), line);
}

void TableReader::check_pointers() const {
  for (const auto& column : columns_) try {
      pointer_to(column);
    } catch (const nlohmann::json::exception&) {
      throw DataError(fmt::format("data.columns: '{}' is no JSON pointer", column));
    }
}

void TableReader::read_names() {
  const auto first = fields();
  if (!first) throw DataError(file_.string() + ": the file is empty");
  if (!first->fault.empty()) throw DataError(place(1) + first->fault);
  names_ = first->texts.size();
  for (const auto& column : columns_) {
    if (std::ranges::count(first->texts, column) != 1)
      throw DataError(fmt::format(
          "{}the first line has to name the column '{}' once, and names {}; see data.columns",
          place(1), column, fmt::join(first->texts, ", ")));
    places_.push_back(
        static_cast<size_t>(std::ranges::find(first->texts, column) - first->texts.begin()));
  }
}

std::optional<TableRow> TableReader::fields() {
  auto line = lines_.next();
  if (!line) return {};
  TableRow row{.line = ++line_, .texts = {}, .fault = fault_in(*line)};
  if (!row.fault.empty()) return row;
  SplitRow split(format_);
  for (auto bytes = std::ssize(line->text); !split.add(line->text);) {
    line = lines_.next();
    line_ += line ? 1 : 0;
    bytes += line ? std::ssize(line->text) + 1 : 0;
    if (!line || bytes > max_line_bytes_) row.fault = "the row has a quote that is not closed";
    if (line && !line->fault.empty()) row.fault = place(line_) + fault_in(*line);
    if (!row.fault.empty()) return row;
  }
  if (split.misplaced_quote()) row.fault = kMisplacedQuote;
  row.texts = std::move(split).fields();
  return row;
}

TableRow TableReader::chosen(TableRow row) const {
  if (!row.fault.empty()) return row;
  if (row.texts.size() != names_) {
    row.fault = columns_.empty() ? why_no_pair(file_)
                                 : fmt::format("the row has {} fields and the first line {}",
                                               row.texts.size(), names_);
    return row;
  }
  std::vector<std::string> texts;
  for (const auto place : places_) texts.push_back(row.texts[place]);
  row.texts = std::move(texts);
  return row;
}

TableRow TableReader::chosen_of_object(const Line& line) const {
  TableRow row{.line = line_, .texts = {}, .fault = fault_in(line)};
  if (!row.fault.empty()) return row;
  const auto object = nlohmann::json::parse(line.text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) row.fault = why_no_object(object, line.text);
  for (const auto& column : columns_) {
    if (!row.fault.empty()) break;
    const auto pointer = pointer_to(column);
    if (!object.contains(pointer))
      row.fault = fmt::format("the object has no '{}'; see data.columns", column);
    else
      add_text(object.at(pointer), column, row);
  }
  return row;
}

std::optional<TableRow> TableReader::next() {
  if (format_ == TableFormat::jsonl) {
    const auto line = lines_.next();
    if (!line) return {};
    // Also where bad lines are skipped: between brackets, some lines of an array are objects.
    if (++line_ == 1 && first_sign(line->text) == '[')
      throw DataError(file_.string() +
                      " is a JSON array, and JSON Lines have an object on each line; convert it: "
                      "jq -c '.[]' FILE, or as docs/data.md shows");
    return chosen_of_object(*line);
  }
  auto row = fields();
  if (!row) return {};
  return chosen(std::move(*row));
}

}  // namespace ablate::data
