#include "data/augmentation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

#include "data/corpus.h"
#include "tokenizer/special_tokens.h"

namespace ablate::data {
namespace {

constexpr int64_t kParts = 1'000'000;

int64_t shown(int64_t token, const Masking& options, Random& random) {
  const int64_t tenth = random.below(10);
  if (tenth < 8) return tokenizer::kMask;
  return tenth == 8 ? random.between(tokenizer::kMask + 1, options.vocabulary - 1) : token;
}

/// The share in units of 1 / kParts.
int64_t limit_of(const Masking& options) { return static_cast<int64_t>(options.share * kParts); }

void check(const Masking& options) {
  if (options.vocabulary <= tokenizer::kMask + 1)
    throw DataError(
        "the vocabulary has only special tokens; masked training needs at least one other token");
}

/// Places of a target that are to be predicted.
std::vector<size_t> places_of(std::span<const int64_t> target) {
  std::vector<size_t> places;
  for (size_t i = 0; i < target.size(); ++i)
    if (target[i] != tokenizer::kPad) places.push_back(i);
  return places;
}

/// One example's row of a batch, and the random numbers of each of its places.
struct MaskedRow {
  std::span<int64_t> source, target_out;
  std::vector<size_t> places;
  std::vector<Random> random;  // one for each place
  std::vector<int64_t> parts;  // the first random number of each
};

/// Masks the places whose part is below `limit`, and returns their number.
int64_t hide(MaskedRow& row, const Masking& options, int64_t limit) {
  int64_t hidden = 0;
  for (size_t i = 0; i < row.places.size(); ++i) {
    const auto place = row.places[i];
    auto& wanted = row.target_out[place];
    if (row.parts[i] < limit) {
      row.source[place] = shown(wanted, options, row.random[i]);
      ++hidden;
    } else {
      wanted = tokenizer::kPad;
    }
  }
  return hidden;
}

/// The number k of 1 to `places` that the probability 1 / k, over their sum, gives a quantile in
/// [0, 1).
int64_t count_at(double quantile, int64_t places) {
  double sum = 0;
  for (int64_t k = 1; k <= places; ++k) sum += 1 / static_cast<double>(k);
  double rest = quantile * sum;
  for (int64_t k = 1; k < places; ++k)
    if ((rest -= 1 / static_cast<double>(k)) < 0) return k;
  return places;
}

double fraction_of(double x) { return x - std::floor(x); }

/// Masks so many places of a row, drawn evenly, and returns their number.
int64_t hide_drawn(MaskedRow& row, double quantile, Random& random) {
  if (row.places.empty()) return 0;
  const auto count = count_at(quantile, std::ssize(row.places));
  random.shuffle(row.places);
  for (int64_t i = 0; i < std::ssize(row.places); ++i) {
    const auto place = row.places[static_cast<size_t>(i)];
    if (i < count)
      row.source[place] = tokenizer::kMask;
    else
      row.target_out[place] = tokenizer::kPad;
  }
  return count;
}

MaskedRow row_of(Batch& batch, size_t number) {
  const auto length = static_cast<size_t>(batch.target_length);
  MaskedRow row{.source = std::span(batch.source).subspan(number * length, length),
                .target_out = std::span(batch.target_out).subspan(number * length, length)};
  row.places = places_of(row.target_out);
  return row;
}

/// The rows' quantiles have even distances.
void mask_rows(Batch& batch, Random& random) {
  const double first = random.uniform();
  batch.tokens = 0;
  for (int64_t i = 0; i < batch.rows; ++i) {
    auto row = row_of(batch, static_cast<size_t>(i));
    const double place = static_cast<double>(i) / static_cast<double>(batch.rows);
    batch.tokens += hide_drawn(row, fraction_of(first + place), random);
  }
}

/// Fractions of multiples of the golden ratio fill [0, 1) evenly, however many there are.
double quantile_of(int64_t example) {
  return fraction_of(static_cast<double>(example) * std::numbers::phi);
}

}  // namespace

void mask(Batch& batch, const Masking& options, Random& random) {
  check(options);
  if (options.diffusion) return mask_rows(batch, random);
  const auto places = places_of(batch.target_out);
  const auto limit = limit_of(options);
  std::vector<bool> chosen(places.size());
  for (size_t i = 0; i < places.size(); ++i) chosen[i] = random.below(kParts) < limit;
  if (!places.empty() && std::ranges::find(chosen, true) == chosen.end())
    chosen[static_cast<size_t>(random.below(static_cast<int64_t>(places.size())))] = true;
  batch.tokens = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    auto& wanted = batch.target_out[places[i]];
    if (chosen[i]) {
      batch.source[places[i]] = shown(wanted, options, random);
      ++batch.tokens;
    } else {
      wanted = tokenizer::kPad;
    }
  }
}

void mask_by_place(Batch& batch, std::span<const int64_t> examples, const Masking& options,
                   uint64_t seed) {
  check(options);
  batch.tokens = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    auto row = row_of(batch, i);
    Random of_example(seed, "masked places", static_cast<uint64_t>(examples[i]));
    if (options.diffusion) {
      batch.tokens += hide_drawn(row, quantile_of(examples[i]), of_example);
      continue;
    }
    for (size_t n = 0; n < row.places.size(); ++n) {
      row.random.emplace_back(of_example.next());
      row.parts.push_back(row.random.back().below(kParts));
    }
    auto limit = limit_of(options);
    if (examples[i] == 0 && !row.parts.empty())
      limit = std::max(limit, std::ranges::min(row.parts) + 1);
    batch.tokens += hide(row, options, limit);
  }
}

std::vector<int32_t> concatenate(std::span<const Example> texts, const TextEncoder& encode) {
  std::vector<int32_t> all;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto ids = encode(i, texts[i].target);
    all.insert(all.end(), ids.begin(), ids.end());
    all.push_back(tokenizer::kEos);
  }
  return all;
}

Blocks::Blocks(int64_t ids, const Chunking& chunking)
    : ids_(ids),
      block_(chunking.block),
      first_(chunking.offset > 0 ? chunking.offset : chunking.block),
      overlap_(chunking.masked ? 0 : 1) {
  const int64_t predicted = ids - overlap_;
  if (predicted > 0) count_ = 1 + (std::max<int64_t>(predicted - first_, 0) + block_ - 1) / block_;
}

Blocks::Place Blocks::at(int64_t number) const {
  const int64_t begin = number == 0 ? 0 : first_ + (number - 1) * block_;
  const int64_t length = (number == 0 ? first_ : block_) + overlap_;
  return {.begin = begin, .size = std::min(length, ids_ - begin)};
}

EncodedExample example_of(std::span<const int32_t> block, const Chunking& chunking) {
  if (!chunking.masked)
    return {
        .target = {block.begin(), block.end()}, .prompt_length = 1, .started = chunking.started};
  std::vector<int32_t> ids(chunking.started ? 1 : 0, kStartToken);
  ids.reserve(ids.size() + block.size());
  std::ranges::copy(block, std::back_inserter(ids));
  return {.source = ids, .target = ids, .prompt_length = std::ssize(ids) - std::ssize(block)};
}

std::vector<EncodedExample> chunk(std::span<const int32_t> ids, const Chunking& chunking) {
  const Blocks blocks(std::ssize(ids), chunking);
  std::vector<EncodedExample> examples;
  for (int64_t i = 0; i < blocks.count(); ++i) {
    const auto [begin, size] = blocks.at(i);
    examples.push_back(
        example_of(ids.subspan(static_cast<size_t>(begin), static_cast<size_t>(size)), chunking));
  }
  return examples;
}

}  // namespace ablate::data
