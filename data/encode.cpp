#include "data/encode.h"

#include <algorithm>

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

/// The texts' ids one after the other, each text closed by the end mark.
std::vector<int32_t> joined(std::span<const Example> texts, const tokenizer::Tokenizer& tokenizer) {
  std::vector<int32_t> all;
  for (const auto& text : texts) {
    const auto ids = tokenizer.encode(text.target);
    all.insert(all.end(), ids.begin(), ids.end());
    all.push_back(tokenizer::kEos);
  }
  return all;
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

EncodedSet as_sequences(EncodedSet pairs) {
  for (auto& example : pairs.examples) {
    example.given = static_cast<int64_t>(example.source.size());
    example.source.insert(example.source.end(), example.target.begin(), example.target.end());
    example.target = std::move(example.source);
    example.source.clear();
  }
  return pairs;
}

tokenizer::Tokenizer train_label_tokenizer(std::span<const Example> train) {
  std::vector<std::string> labels;
  for (const auto& example : train) labels.push_back(example.target);
  return tokenizer::Tokenizer::train(
      {.kind = tokenizer::Kind::word, .normalization = tokenizer::Normalization::identity}, labels);
}

EncodedSet encode_labelled(std::span<const Example> examples, const Tokenizers& tokenizers,
                           int64_t max_length) {
  EncodedSet set;
  for (const auto& example : examples) {
    auto source = side(tokenizers.source, example.source, max_length - 1, set.cut_sources);
    source.insert(source.begin(), tokenizer::kBos);
    set.examples.push_back({std::move(source), tokenizers.target.encode(example.target, 1).ids});
  }
  return set;
}

EncodedSet pack(std::span<const Example> texts, const tokenizer::Tokenizer& tokenizer,
                int64_t block) {
  const auto all = joined(texts, tokenizer);
  EncodedSet set;
  const auto total = static_cast<int64_t>(all.size());
  for (int64_t begin = 0; begin + 1 < total; begin += block) {
    const int64_t end = std::min(total, begin + block + 1);
    set.examples.push_back({{}, {all.begin() + begin, all.begin() + end}, 1});
  }
  return set;
}

EncodedSet pack_for_masking(std::span<const Example> texts, const tokenizer::Tokenizer& tokenizer,
                            int64_t block) {
  const auto all = joined(texts, tokenizer);
  EncodedSet set;
  const auto total = static_cast<int64_t>(all.size());
  for (int64_t begin = 0; begin < total; begin += block) {
    std::vector<int32_t> ids{tokenizer::kBos};
    ids.insert(ids.end(), all.begin() + begin, all.begin() + std::min(total, begin + block));
    set.examples.push_back({ids, ids, 1});
  }
  return set;
}

}  // namespace ablate::data
