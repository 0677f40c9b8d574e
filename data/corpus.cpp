#include "data/corpus.h"

#include "data/labelled_text.h"
#include "data/language_text.h"
#include "data/parallel_text.h"
#include "data/tasks/generate.h"
#include "tokenizer/digest.h"

namespace ablate::data {
namespace {

void append(std::string& all, const std::vector<Example>& examples) {
  for (const auto& example : examples) all += example.source + '\t' + example.target + '\n';
  all += '\f';
}

std::string digest(const Corpus& corpus) {
  std::string all;
  append(all, corpus.train);
  append(all, corpus.validation);
  for (const auto& test : corpus.tests) append(all, test.examples);
  return tokenizer::sha256(all);
}

}  // namespace

Corpus load(const DataOptions& options, const std::filesystem::path& folder, uint64_t seed) {
  const auto* text = std::get_if<Text>(&options);
  const auto* labelled = std::get_if<Labelled>(&options);
  const auto* language = std::get_if<Language>(&options);
  auto corpus = text != nullptr       ? read_text(*text, folder)
                : labelled != nullptr ? read_labelled(*labelled, folder)
                : language != nullptr ? read_language(*language, folder)
                                      : generate(options, seed);
  corpus.sha256 = digest(corpus);
  return corpus;
}

}  // namespace ablate::data
