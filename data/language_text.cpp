#include "data/language_text.h"

#include "data/text_file.h"

namespace ablate::data {
namespace {

std::vector<Example> lines_of(const std::filesystem::path& file, int64_t max_line_bytes) {
  std::vector<Example> lines;
  for (auto& line : read_lines(file, max_line_bytes)) {
    if (!line.fault.empty())
      throw DataError(file.string() + ":" + std::to_string(lines.size() + 1) + ": " + line.fault);
    lines.push_back({{}, std::move(line.text)});
  }
  return lines;
}

int64_t bytes_of(const std::vector<Example>& lines) {
  int64_t bytes = 0;
  for (const auto& line : lines) bytes += static_cast<int64_t>(line.target.size()) + 1;
  return bytes;
}

/// Takes the last lines, at least one and never all, out of `lines`, about `share` of its bytes.
std::vector<Example> take_end(std::vector<Example>& lines, double share) {
  const double kept = (1 - share) * static_cast<double>(bytes_of(lines));
  double bytes = 0;
  size_t count = 0;
  while (count < lines.size() && bytes < kept)
    bytes += static_cast<double>(lines[count++].target.size() + 1);
  count = std::min(std::max<size_t>(count, 1), lines.size() - 1);
  const auto cut = lines.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Example> end(cut, lines.end());
  lines.erase(cut, lines.end());
  return end;
}

}  // namespace

Corpus read_language(const Language& options, const std::filesystem::path& folder) {
  const auto read = [&](const std::string& file) {
    return lines_of(folder / file, options.max_line_bytes);
  };
  Corpus corpus{.train = read(options.train)};
  if (!options.validation && corpus.train.size() < 2)
    throw DataError((folder / options.train).string() +
                    " has a single line, too few to hold some out; name a validation file");
  corpus.validation =
      options.validation ? read(*options.validation) : take_end(corpus.train, options.held_out);
  corpus.tests.push_back({"test", false, options.test ? read(*options.test) : corpus.validation});
  return corpus;
}

}  // namespace ablate::data
