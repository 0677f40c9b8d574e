#include "data/corpus.h"

#include <map>
#include <string_view>
#include <utility>

#include "data/read_corpus.h"
#include "data/tasks/biographies.h"
#include "data/tasks/generate.h"
#include "data/tasks/grammar.h"
#include "data/tasks/table.h"
#include "data/token_file.h"
#include "tokenizer/text/digest.h"

namespace ablate::data {
namespace {

/// Makes the corpus of each kind of data. A kind that is neither read here nor generated does not
/// compile.
struct Loader {
  const std::filesystem::path& folder;
  uint64_t seed;

  Corpus operator()(const Text& text) const { return read_text(text, folder); }
  Corpus operator()(const Labelled& text) const { return read_labelled(text, folder); }
  Corpus operator()(const Language& text) const { return read_language(text, folder); }
  Corpus operator()(const Tokens& tokens) const { return open_tokens(tokens, folder); }
  Corpus operator()(const Capo& task) const { return biographies(task, seed); }
  Corpus operator()(const Lano& task) const { return grammar_text(task, seed); }
  Corpus operator()(const Facts& facts) const { return fact_table(facts, seed); }
  Corpus operator()(const Table& table) const { return operation_table(table, seed); }
  template <Generated Task>
  Corpus operator()(const Task& task) const {
    return generate(task.generator(), seed);
  }
};

void add_examples(tokenizer::Digest& digest, const std::vector<Example>& examples) {
  for (const auto& example : examples) {
    digest.add(example.source);
    digest.add("\t");
    digest.add(example.target);
    digest.add("\n");
    if (example.tokens) digest.add(example.tokens->sha256());
  }
  digest.add("\f");
}

std::string sha256_of(const Corpus& corpus) {
  tokenizer::Digest digest;
  add_examples(digest, corpus.train);
  add_examples(digest, corpus.validation);
  for (const auto& test : corpus.tests) add_examples(digest, test.examples);
  return digest.sha256();
}

/// Counts the test examples that training shows as well. Only those of the test set are kept in
/// mind, since training may be far larger. Files of tokens are not searched.
void count_in_training(TestSet& test, const std::vector<Example>& train) {
  if (test.examples.front().tokens) return;
  std::map<std::pair<std::string_view, std::string_view>, int64_t> left;
  for (const auto& example : test.examples) ++left[{example.source, example.target}];
  for (const auto& example : train) {
    const auto found = left.find({example.source, example.target});
    if (found == left.end()) continue;
    test.in_training += found->second;
    left.erase(found);
  }
}

}  // namespace

Corpus load(const DataOptions& options, const std::filesystem::path& folder, uint64_t seed) {
  auto corpus = std::visit(Loader{folder, seed}, options);
  corpus.sha256 = sha256_of(corpus);
  for (auto& test : corpus.tests) count_in_training(test, corpus.train);
  return corpus;
}

}  // namespace ablate::data
