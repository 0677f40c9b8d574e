#include "data/batch.h"

#include <algorithm>

#include "data/corpus.h"

namespace ablate::data {

Batch collate(std::span<const EncodedExample> examples, std::span<const int64_t> indices) {
  Batch batch{.rows = static_cast<int64_t>(indices.size())};
  for (const int64_t index : indices) {
    const auto& example = examples[static_cast<size_t>(index)];
    if ((example.source.empty() && example.prompt_length == 0) || example.target.empty())
      throw DataError("example " + std::to_string(index) + " has a side without its end token");
    batch.source_length =
        std::max(batch.source_length, static_cast<int64_t>(example.source.size()));
    batch.target_length =
        std::max(batch.target_length, static_cast<int64_t>(example.target.size()));
    batch.tokens += static_cast<int64_t>(example.target.size()) - example.prompt_length;
  }
  batch.source.assign(static_cast<size_t>(batch.rows * batch.source_length), tokenizer::kPad);
  batch.target_in.assign(static_cast<size_t>(batch.rows * batch.target_length), tokenizer::kPad);
  batch.target_out = batch.target_in;
  auto source = batch.source.begin();
  auto in = batch.target_in.begin(), out = batch.target_out.begin();
  for (const int64_t index : indices) {
    const auto& example = examples[static_cast<size_t>(index)];
    std::ranges::copy(example.source, source);
    std::copy(example.target.begin() + example.prompt_length, example.target.end(),
              out + example.prompt_length);
    *in = kStartToken;
    std::copy(example.target.begin(), example.target.end() - 1, in + 1);
    source += batch.source_length;
    in += batch.target_length;
    out += batch.target_length;
  }
  return batch;
}

SourceBatch collate_sources(std::span<const std::vector<int32_t>> sources,
                            std::span<const int64_t> indices) {
  SourceBatch batch{.rows = static_cast<int64_t>(indices.size())};
  for (const int64_t index : indices)
    batch.length = std::max<int64_t>(batch.length, std::ssize(sources[static_cast<size_t>(index)]));
  batch.ids.assign(static_cast<size_t>(batch.rows * batch.length), tokenizer::kPad);
  auto row = batch.ids.begin();
  for (const int64_t index : indices) {
    std::ranges::copy(sources[static_cast<size_t>(index)], row);
    row += batch.length;
  }
  return batch;
}

}  // namespace ablate::data
