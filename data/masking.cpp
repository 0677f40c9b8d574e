#include "data/masking.h"

#include <algorithm>

#include "data/corpus.h"
#include "tokenizer/special_ids.h"

namespace ablate::data {
namespace {

constexpr int64_t kParts = 1'000'000;

int64_t shown(int64_t token, const Masking& options, Random& random) {
  const int64_t tenth = random.below(10);
  if (tenth < 8) return tokenizer::kMask;
  return tenth == 8 ? random.between(tokenizer::kMask + 1, options.vocabulary - 1) : token;
}

/// As parts of kParts.
int64_t limit_of(const Masking& options) { return static_cast<int64_t>(options.share * kParts); }

void check(const Masking& options) {
  if (options.vocabulary <= tokenizer::kMask + 1)
    throw DataError(
        "the tokenizer knows special tokens alone; a masked one needs others beside it");
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
  std::vector<int64_t> parts;  // what each has drawn first
};

/// Hides the places whose part is below `limit`, and gives their number.
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

}  // namespace

void mask(Batch& batch, const Masking& options, Random& random) {
  check(options);
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
  const auto length = static_cast<size_t>(batch.target_length);
  batch.tokens = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    MaskedRow row{.source = std::span(batch.source).subspan(i * length, length),
                  .target_out = std::span(batch.target_out).subspan(i * length, length)};
    row.places = places_of(row.target_out);
    Random of_example(seed, "masked places", static_cast<uint64_t>(examples[i]));
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

}  // namespace ablate::data
