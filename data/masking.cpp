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

}  // namespace

void mask(Batch& batch, const Masking& options, Random& random) {
  if (options.vocabulary <= tokenizer::kMask + 1)
    throw DataError(
        "the tokenizer knows special tokens alone; a masked one needs others beside it");
  std::vector<size_t> places;
  for (size_t i = 0; i < batch.target_out.size(); ++i)
    if (batch.target_out[i] != tokenizer::kPad) places.push_back(i);
  const auto limit = static_cast<int64_t>(options.share * kParts);
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

}  // namespace ablate::data
