#include "data/encode.h"

#include "tokenizer/special_ids.h"

namespace ablate::data {
namespace {

std::vector<int32_t> side(const tokenizer::Tokenizer& model, const std::string& text,
                          int64_t max_length, int64_t& cut) {
  auto encoded = model.encode(text, max_length - 1);
  if (encoded.cut) ++cut;
  encoded.ids.push_back(tokenizer::kEos);
  return std::move(encoded.ids);
}

}  // namespace

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

EncodedSet encode(std::span<const Example> examples, const Tokenizers& tokenizers,
                  int64_t max_length) {
  EncodedSet set;
  set.examples.reserve(examples.size());
  for (const auto& example : examples) {
    auto source = side(tokenizers.source, example.source, max_length, set.cut_sources);
    set.examples.push_back(
        {std::move(source), side(tokenizers.target, example.target, max_length, set.cut_targets)});
  }
  return set;
}

}  // namespace ablate::data
