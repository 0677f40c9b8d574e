#include <set>
#include <string>

#include "data/read_corpus.h"

namespace ablate::data {
namespace {

/// The classes of training, and whether their names may have spaces.
struct Classes {
  std::set<std::string> trained;
  bool spaces;
};

void check_classes(const std::vector<Example>& examples, const Classes& classes,
                   const std::string& file) {
  for (const auto& example : examples) {
    if (!classes.spaces && example.target.find(' ') != std::string::npos)
      throw DataError(file + ": the class '" + example.target +
                      "' has a space; every line is a text, a tab and a class of one word");
    if (!classes.trained.contains(example.target))
      throw DataError(file + ": the class '" + example.target +
                      "' does not occur in the training file");
  }
}

Text as_text(const Labelled& options) {
  return {.train = {options.train},
          .validation = {options.validation},
          .test = {options.test},
          .format = options.format,
          .columns = {options.columns.text, options.columns.label, options.columns.text_pair},
          .filter = options.filter,
          .bad_lines = options.bad_lines,
          .max_line_bytes = options.max_line_bytes};
}

}  // namespace

void check_beginning(const Labelled& options, const std::filesystem::path& file) {
  check_beginning(as_text(options), file, /*alone=*/true);
}

Corpus read_labelled(const Labelled& options, const std::filesystem::path& folder) {
  auto corpus = read_text(as_text(options), folder);
  Classes classes{.trained = {}, .spaces = options.format.has_value()};
  for (const auto& example : corpus.train) classes.trained.insert(example.target);
  if (classes.trained.size() < 2)
    throw DataError(options.train + ": every line has the class '" + *classes.trained.begin() +
                    "'; there must be at least two classes");
  check_classes(corpus.train, classes, options.train);
  check_classes(corpus.validation, classes, options.validation);
  check_classes(corpus.tests.front().examples, classes, options.test);
  return corpus;
}

}  // namespace ablate::data
