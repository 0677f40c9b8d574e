#include "data/batch.h"

#include <algorithm>
#include <numeric>

#include "data/corpus.h"
#include "data/random.h"

namespace ablate::data {
namespace {

using Indices = std::vector<int64_t>;

std::vector<Indices> batches_of(std::span<const int64_t> lengths, const Indices& order,
                                int64_t tokens_per_batch) {
  std::vector<Indices> batches;
  int64_t longest = 0;
  for (const int64_t index : order) {
    const int64_t length = lengths[static_cast<size_t>(index)];
    const int64_t padded = std::max(longest, length);
    const bool fits = !batches.empty() &&
                      padded * static_cast<int64_t>(batches.back().size() + 1) <= tokens_per_batch;
    if (!fits) batches.emplace_back();
    longest = fits ? padded : length;
    batches.back().push_back(index);
  }
  return batches;
}

Indices by_length(std::span<const int64_t> lengths, Indices order) {
  std::ranges::stable_sort(order, {},
                           [&](int64_t index) { return lengths[static_cast<size_t>(index)]; });
  return order;
}

Indices all_of(std::span<const int64_t> lengths) {
  Indices order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

std::vector<int64_t> lengths_of(std::span<const EncodedExample> examples) {
  std::vector<int64_t> lengths;
  lengths.reserve(examples.size());
  for (const auto& one : examples)
    lengths.push_back(static_cast<int64_t>(std::max(one.source.size(), one.target.size())));
  return lengths;
}

std::vector<Indices> batch_plan(std::span<const int64_t> lengths, const PlanOptions& options) {
  Random random(options.seed, "epoch", static_cast<uint64_t>(options.epoch));
  auto order = all_of(lengths);
  random.shuffle(order);  // the stable sort keeps this order among equals
  auto batches =
      batches_of(lengths, by_length(lengths, std::move(order)), options.tokens_per_batch);
  random.shuffle(batches);
  return batches;
}

std::vector<Indices> ordered_plan(std::span<const EncodedExample> examples,
                                  int64_t tokens_per_batch) {
  const auto lengths = lengths_of(examples);
  return batches_of(lengths, by_length(lengths, all_of(lengths)), tokens_per_batch);
}

Batch collate(std::span<const EncodedExample> examples, std::span<const int64_t> indices) {
  Batch batch{.rows = static_cast<int64_t>(indices.size())};
  for (const int64_t index : indices) {
    const auto& example = examples[static_cast<size_t>(index)];
    const int64_t length = std::ssize(example.target) - (example.started ? 0 : 1);
    if ((example.source.empty() && example.prompt_length == 0) || length < 1)
      throw DataError("example " + std::to_string(index) + " has a side without its end token");
    batch.source_length =
        std::max(batch.source_length, static_cast<int64_t>(example.source.size()));
    batch.target_length = std::max(batch.target_length, length);
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
    const int64_t start = example.started ? 1 : 0;
    std::copy(example.target.begin() + example.prompt_length, example.target.end(),
              out + example.prompt_length + start - 1);
    std::fill_n(in, start, kStartToken);
    std::copy(example.target.begin(), example.target.end() - 1, in + start);
    source += batch.source_length;
    in += batch.target_length;
    out += batch.target_length;
  }
  return batch;
}

Batch first_targets(Batch batch, int64_t length) {
  if (length >= batch.target_length) return batch;
  const auto cut = [&](const std::vector<int64_t>& ids) {
    std::vector<int64_t> first;
    for (auto row = ids.begin(); row != ids.end(); row += batch.target_length)
      first.insert(first.end(), row, row + length);
    return first;
  };
  batch.target_in = cut(batch.target_in);
  batch.target_out = cut(batch.target_out);
  batch.target_length = length;
  batch.tokens =
      std::ssize(batch.target_out) - std::ranges::count(batch.target_out, tokenizer::kPad);
  return batch;
}

}  // namespace ablate::data
