#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "data/foreign_form.h"
#include "data/read_corpus.h"
#include "data/table_file.h"
#include "data/text_file.h"
#include "data/token_file.h"

namespace ablate::data {
namespace {

/// All lines, or the first `most`.
std::vector<Example> lines_of(const Language& options, const std::filesystem::path& file,
                              size_t most = SIZE_MAX) {
  require_plain_name(file);
  std::vector<Example> lines;
  for (auto& line : read_lines(file, options.max_line_bytes, most)) {
    if (!line.fault.empty())
      throw DataError(file.string() + ":" + std::to_string(lines.size() + 1) + ": " + line.fault);
    lines.push_back({.source = {}, .target = std::move(line.text)});
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

TableReader rows_in(const Language& options, const std::filesystem::path& file) {
  return {file, *options.format, {options.columns.text}, options.max_line_bytes};
}

/// The text of the next row, if there is one.
std::optional<std::string> next_text(TableReader& reader) {
  auto row = reader.next();
  if (row && !row->fault.empty()) throw DataError(reader.place(row->line) + row->fault);
  return row ? std::optional(std::move(row->texts.front())) : std::nullopt;
}

/// The lines of the texts of a file with columns.
std::vector<Example> lines_of_rows(const Language& options, const std::filesystem::path& file) {
  auto reader = rows_in(options, file);
  std::vector<Example> lines;
  while (const auto text = next_text(reader)) {
    for (size_t begin = 0, end = 0; begin < text->size() || begin == 0; begin = end + 1) {
      end = std::min(text->find('\n', begin), text->size());
      auto line = text->substr(begin, end - begin);
      if (line.ends_with('\r')) line.pop_back();
      lines.push_back({.source = {}, .target = one_line(std::move(line))});
    }
  }
  return lines;
}

/// Of a tokenizer that is read later, whose ids FileText checks then.
constexpr int64_t kUnknownVocabulary = 65'536;

std::shared_ptr<const TokenFile> tokens_in(const Tokens& options,
                                           const std::filesystem::path& file) {
  auto tokens = std::make_shared<const TokenFile>(file, options.dtype);
  if (options.vocabulary)
    FileText(tokens, std::vector<int32_t>(static_cast<size_t>(*options.vocabulary)));
  else
    tokens->check_type(kUnknownVocabulary);
  if (tokens->size() < 2) throw DataError(file.string() + " has one token, which nothing predicts");
  return tokens;
}

}  // namespace

Corpus read_language(const Language& options, const std::filesystem::path& folder) {
  const auto read = [&](const std::string& file) {
    return options.format ? lines_of_rows(options, folder / file)
                          : lines_of(options, folder / file);
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
  corpus.tests.push_back({.name = Language::test_name, .examples = std::move(test)});
  return corpus;
}

Corpus open_tokens(const Tokens& options, const std::filesystem::path& folder) {
  const auto open = [&](const std::string& name) {
    return std::vector{Example{.tokens = tokens_in(options, folder / name)}};
  };
  Corpus corpus{.train = open(options.train), .validation = open(options.validation)};
  corpus.tests.push_back({.name = Tokens::test_name,
                          .examples = options.test ? open(*options.test) : corpus.validation});
  return corpus;
}

void check_beginning(const Language& options, const std::filesystem::path& file) {
  if (!options.format) {
    lines_of(options, file, 1);
    return;
  }
  auto reader = rows_in(options, file);
  next_text(reader);
}

void check_beginning(const Tokens& options, const std::filesystem::path& file) {
  tokens_in(options, file);
}

}  // namespace ablate::data
