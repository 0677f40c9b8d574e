#include "data/tokenizers.h"

namespace ablate::data {

Tokenizers train_tokenizers(const tokenizer::TokenizerOptions& options,
                            std::span<const Example> train) {
  std::vector<std::string> sources, targets;
  for (const auto& example : train) {
    sources.push_back(example.source);
    (options.joint ? sources : targets).push_back(example.target);
  }
  const auto source = tokenizer::Tokenizer::train(options, sources);
  return {source, options.joint ? source : tokenizer::Tokenizer::train(options, targets)};
}

tokenizer::Tokenizer train_label_tokenizer(std::span<const Example> train) {
  std::vector<std::string> labels;
  for (const auto& example : train) labels.push_back(example.target);
  return tokenizer::Tokenizer::train(
      {.kind = tokenizer::Kind::word, .normalization = tokenizer::Normalization::identity}, labels);
}

}  // namespace ablate::data
