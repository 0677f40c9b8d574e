#include "experiments/cli/lines.h"

#include <fmt/format.h>

#include "data/corpus.h"

namespace ablate::cli {
namespace {

[[noreturn]] void fail(const data::LineReader& reader, const data::Line& line) {
  throw data::DataError(fmt::format("{}: {}; fix the line", reader.place(), line.fault));
}

}  // namespace

std::optional<std::string> InputLines::next() {
  auto line = reader_.next();
  if (!line) return {};
  if (line->cut) fail(reader_, *line);
  return std::move(line->text);
}

std::vector<std::string> InputLines::group(size_t most) {
  std::vector<std::string> lines;
  while (lines.size() < most && (lines.empty() || !pauses())) {
    auto line = next();
    if (!line) break;
    lines.push_back(std::move(*line));
  }
  return lines;
}

std::vector<std::string> read_text(const std::string& file) {
  data::LineReader reader(file == "-" ? data::GzipFile::standard_input() : data::GzipFile(file),
                          kLongestLine);
  std::vector<std::string> lines;
  while (auto line = reader.next()) {
    if (!line->fault.empty()) fail(reader, *line);
    lines.push_back(std::move(line->text));
  }
  return lines;
}

}  // namespace ablate::cli
