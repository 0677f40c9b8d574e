#include "data/labelled_text.h"

#include <set>

#include "data/parallel_text.h"

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
                    "'; there must be two classes to tell apart");
  check_classes(corpus.train, trained, options.train);
  check_classes(corpus.validation, trained, options.validation);
  check_classes(corpus.tests.front().examples, trained, options.test);
  return corpus;
}

}  // namespace ablate::data
