#include "data/language_text.h"

#include <utility>

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
  const size_t fewest = 1 + (options.validation ? 0 : 1) + (options.test_held_out > 0 ? 1 : 0);
  if (corpus.train.size() < fewest)
    throw DataError((folder / options.train).string() + " has " +
                    std::to_string(corpus.train.size()) +
                    (corpus.train.size() == 1 ? " line" : " lines") +
                    ", too few to hold some out; name files for validation and test");
  corpus.validation =
      options.validation ? read(*options.validation) : take_end(corpus.train, options.held_out);
  const double left = options.validation ? 1 : 1 - options.held_out;
  auto test = corpus.validation;
  if (options.test)
    test = read(*options.test);
  else if (options.test_held_out > 0)
    test = take_end(corpus.train, options.test_held_out / left);
  corpus.tests.push_back({Language::test_name, false, std::move(test)});
  return corpus;
}

}  // namespace ablate::data
