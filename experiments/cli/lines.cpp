#include "experiments/cli/lines.h"

#include <cstdio>
#include <fstream>
#include <iostream>

#include "data/corpus.h"

namespace ablate::cli {

/// Without exceptions a stream takes every failure for its end. Standard input reads through stdio,
/// which alone knows of an error.
bool next_line(std::istream& in, std::string& line) {
  in.exceptions(std::ios::badbit);
  bool found = false;
  try {
    found = static_cast<bool>(std::getline(in, line));
  } catch (const std::ios::failure&) {
    throw data::DataError("the input cannot be read to its end");
  }
  if (!found && &in == &std::cin && std::ferror(stdin) != 0)
    throw data::DataError("standard input cannot be read to its end");
  return found;
}

void for_line_groups(std::istream& in, size_t group,
                     const std::function<void(const std::vector<std::string>&)>& body) {
  std::vector<std::string> lines;
  for (std::string line; next_line(in, line);) {
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
