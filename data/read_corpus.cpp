#include "data/read_corpus.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "data/foreign_form.h"
#include "data/table_file.h"
#include "data/text_file.h"
#include "tokenizer/text/unicode.h"

namespace ablate::data {
namespace {

/// A pair of sides and its place, before it is checked.
struct Candidate {
  Example example;
  std::string fault;
};

std::string place(const std::filesystem::path& file, size_t line) {
  return file.string() + ":" + std::to_string(line + 1) + ": ";
}

std::string fault_of(const std::filesystem::path& file, size_t line, const Line& side) {
  if (!side.fault.empty()) return place(file, line) + side.fault;
  if (blank(side.text)) return place(file, line) + "the line is empty";
  return {};
}

std::vector<Candidate> two_files(const Text& options,
                                 const std::vector<std::filesystem::path>& files) {
  for (const auto& file : files) require_plain_name(file);
  auto sources = read_lines(files[0], options.max_line_bytes);
  auto targets = read_lines(files[1], options.max_line_bytes);
  if (sources.size() != targets.size())
    throw DataError(files[0].string() + " has " + std::to_string(sources.size()) + " lines and " +
                    files[1].string() + " has " + std::to_string(targets.size()) +
                    "; line-parallel files need the same number");
  std::vector<Candidate> all;
  for (size_t i = 0; i < sources.size(); ++i) {
    auto fault = fault_of(files[0], i, sources[i]);
    if (fault.empty()) fault = fault_of(files[1], i, targets[i]);
    all.push_back({{std::move(sources[i].text), std::move(targets[i].text)}, std::move(fault)});
  }
  return all;
}

Candidate candidate_of(const TableReader& reader, TableRow row) {
  const auto bad = [&](const std::string& why) {
    return Candidate{.example = {}, .fault = reader.place(row.line) + why};
  };
  if (!row.fault.empty()) return bad(row.fault);
  if (std::ranges::any_of(row.texts, blank)) return bad("one side is empty");
  for (auto& text : row.texts) text = one_line(std::move(text));
  if (row.texts.size() > 2) row.texts[0] = joined_pair(row.texts[0], row.texts[2]);
  return {.example = {std::move(row.texts[0]), std::move(row.texts[1])}, .fault = {}};
}

TableReader table_of(const Text& options, const std::filesystem::path& file) {
  std::vector<std::string> columns;
  if (options.format) columns = {options.columns.source, options.columns.target};
  if (options.format && options.columns.second) columns.push_back(*options.columns.second);
  return {file, options.format.value_or(TableFormat::tsv), std::move(columns),
          options.max_line_bytes};
}

std::vector<Candidate> one_file(const Text& options, const std::filesystem::path& file) {
  std::vector<Candidate> all;
  auto reader = table_of(options, file);
  while (auto row = reader.next()) all.push_back(candidate_of(reader, std::move(*row)));
  return all;
}

[[noreturn]] void refuse(const std::string& fault) {
  throw DataError(fault + "; fix the line, or leave such lines out with data.bad_lines: skip");
}

[[noreturn]] void refuse_all_of(const std::filesystem::path& file) {
  throw DataError(file.string() + ": no line can be used");
}

std::string fault_of_first_row(const Text& options, const std::filesystem::path& file) {
  auto reader = table_of(options, file);
  auto row = reader.next();
  if (!row) refuse_all_of(file);
  return candidate_of(reader, std::move(*row)).fault;
}

std::string fault_of_first_line(const Text& options, const std::filesystem::path& file) {
  require_plain_name(file);
  return fault_of(file, 0, read_lines(file, options.max_line_bytes, 1).front());
}

std::vector<std::filesystem::path> resolve(const std::vector<std::string>& files,
                                           const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : files) paths.push_back(folder / file);
  return paths;
}

void keep_first(std::vector<Example>& examples, int64_t wanted, const std::string& file) {
  if (std::cmp_greater(wanted, examples.size()))
    throw DataError(file + " has " + std::to_string(examples.size()) +
                    " usable pairs, fewer than " + std::to_string(wanted) +
                    "; lower data.train_pairs, or leave it out to use all");
  examples.resize(static_cast<size_t>(wanted));
}

size_t characters_of(const std::string& text) { return tokenizer::code_points(text).size(); }

bool is_lopsided(const Example& pair, double most) {
  const auto [less, more] = std::minmax({characters_of(pair.source), characters_of(pair.target)});
  return static_cast<double>(more) > most * static_cast<double>(less);
}

/// Leaves training pairs out and counts them.
void filter_training(Corpus& corpus, const Filter& filter) {
  std::set<std::pair<std::string, std::string>> seen;
  const auto is_repeated = [&](const Example& pair) {
    return filter.duplicates && !seen.emplace(pair.source, pair.target).second;
  };
  corpus.repeated = static_cast<int64_t>(std::erase_if(corpus.train, is_repeated));
  if (filter.length_ratio)
    corpus.lopsided = static_cast<int64_t>(std::erase_if(corpus.train, [&](const Example& pair) {
      return is_lopsided(pair, *filter.length_ratio);
    }));
}

}  // namespace

std::vector<Example> read_pairs(const Text& options,
                                const std::vector<std::filesystem::path>& files, int64_t& skipped) {
  std::vector<Example> examples;
  for (auto& candidate :
       files.size() == 2 ? two_files(options, files) : one_file(options, files[0])) {
    if (candidate.fault.empty())
      examples.push_back(std::move(candidate.example));
    else if (options.bad_lines == BadLine::skip)
      ++skipped;
    else
      refuse(candidate.fault);
  }
  if (examples.empty()) refuse_all_of(files[0]);
  return examples;
}

void check_beginning(const Text& options, const std::filesystem::path& file, bool alone) {
  const auto fault = alone ? fault_of_first_row(options, file) : fault_of_first_line(options, file);
  if (!fault.empty() && options.bad_lines == BadLine::error) refuse(fault);
}

Corpus read_text(const Text& options, const std::filesystem::path& folder) {
  Corpus corpus;
  corpus.train = read_pairs(options, resolve(options.train, folder), corpus.skipped);
  filter_training(corpus, options.filter);
  if (corpus.train.empty())
    throw DataError(options.train[0] + ": data.filter leaves no training pair");
  if (options.train_pairs) keep_first(corpus.train, *options.train_pairs, options.train[0]);
  corpus.validation = read_pairs(options, resolve(options.validation, folder), corpus.skipped);
  corpus.tests.push_back(
      {.name = Text::test_name(options.test[0]),
       .examples = read_pairs(options, resolve(options.test, folder), corpus.skipped)});
  return corpus;
}

}  // namespace ablate::data
