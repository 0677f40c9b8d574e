#include "experiments/cli/lines.h"

#include <fstream>
#include <iostream>

#include "data/corpus.h"

namespace ablate::cli {

void for_line_groups(std::istream& in, size_t group,
                     const std::function<void(const std::vector<std::string>&)>& body) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(std::move(line));
    if (lines.size() < group) continue;
    body(lines);
    lines.clear();
  }
  if (!lines.empty()) body(lines);
}

std::vector<std::string> read_all_lines(const std::string& file) {
  std::ifstream stream;
  if (file != "-") {
    stream.open(file, std::ios::binary);
    if (!stream) throw data::DataError(file + ": cannot be read; check the path");
  }
  std::vector<std::string> all;
  for_line_groups(file == "-" ? std::cin : stream, 4096,
                  [&](const std::vector<std::string>& lines) {
                    all.insert(all.end(), lines.begin(), lines.end());
                  });
  return all;
}

}  // namespace ablate::cli
