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

Tokenizers train_tokenizers_of_labelled(const tokenizer::TokenizerOptions& options,
                                        std::span<const Example> train) {
  std::vector<std::string> texts;
  for (const auto& example : train) texts.push_back(example.source);
  const auto joint = tokenizer::Tokenizer::train(options, texts);
  return {joint, joint, Labels(train)};
}

}  // namespace ablate::data
