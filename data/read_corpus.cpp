#include "data/read_corpus.h"

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "data/text_file.h"
#include "tokenizer/text/unicode.h"

namespace ablate::data {
namespace {

void check_classes(const std::vector<Example>& examples, const std::set<std::string>& trained,
                   const std::string& file) {
  for (const auto& example : examples) {
    if (example.target.find(' ') != std::string::npos)
      throw DataError(file + ": the class '" + example.target +
                      "' has a space; every line is a text, a tab and a class of one word");
    if (!trained.contains(example.target))
      throw DataError(file + ": the class '" + example.target +
                      "' does not occur in the training file");
  }
}

Text as_text(const Labelled& options) {
  return {.train = {options.train},
          .validation = {options.validation},
          .test = {options.test},
          .bad_lines = options.bad_lines,
          .max_line_bytes = options.max_line_bytes};
}

}  // namespace

void check_first_lines(const Labelled& options, const std::filesystem::path& folder) {
  check_first_lines(as_text(options), folder);
}

Corpus read_labelled(const Labelled& options, const std::filesystem::path& folder) {
  auto corpus = read_text(as_text(options), folder);
  std::set<std::string> trained;
  for (const auto& example : corpus.train) trained.insert(example.target);
  if (trained.size() < 2)
    throw DataError(options.train + ": every line has the class '" + *trained.begin() +
                    "'; there must be at least two classes");
  check_classes(corpus.train, trained, options.train);
  check_classes(corpus.validation, trained, options.validation);
  check_classes(corpus.tests.front().examples, trained, options.test);
  return corpus;
}

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
  corpus.tests.push_back({.name = Language::test_name, .examples = std::move(test)});
  return corpus;
}

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

/// Whether the fields are a header of column names instead of an example.
bool is_header(const std::string& source, const std::string& target) {
  static const std::set<std::string, std::less<>> kSources{"source", "src",      "input",
                                                           "text",   "sentence", "document"};
  static const std::set<std::string, std::less<>> kTargets{
      "target", "tgt", "output", "label", "class", "translation", "summary", "category"};
  static const std::set<std::string, std::less<>> kLanguages{
      "ar",      "cs",         "de",      "en",      "es",      "fr",       "hi",
      "it",      "ja",         "ko",      "nl",      "pl",      "pt",       "ru",
      "tr",      "uk",         "zh",      "arabic",  "chinese", "czech",    "dutch",
      "english", "french",     "german",  "hindi",   "italian", "japanese", "korean",
      "polish",  "portuguese", "russian", "spanish", "turkish", "ukrainian"};
  const auto small = [](const std::string& name) {
    const auto lowered = tokenizer::lower_case(name);
    const auto begin = lowered.find_first_not_of(' ');
    return begin == std::string::npos
               ? ""
               : lowered.substr(begin, lowered.find_last_not_of(' ') + 1 - begin);
  };
  const auto left = small(source), right = small(target);
  return (kSources.contains(left) && kTargets.contains(right)) ||
         (kTargets.contains(left) && kSources.contains(right)) ||
         (left != right && kLanguages.contains(left) && kLanguages.contains(right));
}

/// The remedy for a file whose name says that it is not TSV.
std::string form_hint(const std::filesystem::path& file) {
  const auto plain = file.extension() == ".gz" ? file.stem() : file;
  const auto form = plain.extension().string();
  if (form != ".csv" && form != ".json" && form != ".jsonl" && form != ".parquet") return {};
  return ", which a " + form.substr(1) +
         " file has not; write its two columns with a tab between, as docs/data.md shows";
}

/// Line `i` of a TSV file.
Candidate candidate_of(const std::filesystem::path& file, size_t i, const Line& line) {
  const auto bad = [&](const std::string& why) { return Candidate{{}, place(file, i) + why}; };
  if (!line.fault.empty()) return bad(line.fault);
  const size_t tab = line.text.find('\t');
  if (tab == std::string::npos || line.text.find('\t', tab + 1) != std::string::npos)
    return bad("the line needs exactly one tab between source and target" + form_hint(file));
  Example example{line.text.substr(0, tab), line.text.substr(tab + 1)};
  if (blank(example.source) || blank(example.target)) return bad("one side is empty");
  if (i == 0 && is_header(example.source, example.target))
    return bad("the line names columns and is no example");
  return {std::move(example), {}};
}

std::vector<Candidate> one_file(const Text& options, const std::filesystem::path& file) {
  std::vector<Candidate> all;
  const auto lines = read_lines(file, options.max_line_bytes);
  for (size_t i = 0; i < lines.size(); ++i) all.push_back(candidate_of(file, i, lines[i]));
  return all;
}

[[noreturn]] void refuse(const std::string& fault) {
  throw DataError(fault + "; fix the line, or leave such lines out with data.bad_lines: skip");
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
  if (examples.empty()) throw DataError(files[0].string() + ": no line can be used");
  return examples;
}

void check_first_lines(const Text& options, const std::filesystem::path& folder) {
  if (options.bad_lines == BadLine::skip) return;
  for (const auto* files : {&options.train, &options.validation, &options.test}) {
    const auto paths = resolve(*files, folder);
    if (paths.size() != 1 || !std::filesystem::is_regular_file(paths[0])) continue;
    LineReader reader(GzipFile{paths[0]}, options.max_line_bytes);
    const auto line = reader.next();
    if (!line) continue;
    const auto first = candidate_of(paths[0], 0, *line);
    if (!first.fault.empty()) refuse(first.fault);
  }
}

Corpus read_text(const Text& options, const std::filesystem::path& folder) {
  Corpus corpus;
  corpus.train = read_pairs(options, resolve(options.train, folder), corpus.skipped);
  if (options.train_pairs) keep_first(corpus.train, *options.train_pairs, options.train[0]);
  corpus.validation = read_pairs(options, resolve(options.validation, folder), corpus.skipped);
  corpus.tests.push_back(
      {.name = Text::test_name(options.test[0]),
       .examples = read_pairs(options, resolve(options.test, folder), corpus.skipped)});
  return corpus;
}

}  // namespace ablate::data
