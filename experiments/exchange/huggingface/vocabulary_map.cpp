#include "experiments/exchange/huggingface/vocabulary_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tokenizer/special_tokens.h"

namespace ablate::exchange {

bool VocabularyMap::suppresses() const {
  return std::ranges::find(written, false) != written.end();
}

VocabularyMap map_vocabulary(const SpecialIds& special, int64_t vocabulary) {
  // By how much their output is wanted: an end that is also the beginning is written as the end.
  const std::array<std::pair<int32_t, std::optional<int64_t>>, 4> wanted{
      {{tokenizer::kEos, special.eos},
       {tokenizer::kPad, special.pad},
       {tokenizer::kUnk, special.unk},
       {tokenizer::kBos, special.bos}}};
  VocabularyMap map{.foreign = std::vector<int64_t>(wanted.size(), VocabularyMap::kNone),
                    .written = std::vector<bool>(wanted.size())};
  std::vector<bool> taken(static_cast<size_t>(vocabulary));
  for (const auto& [own, foreign] : wanted) {
    if (!foreign) continue;
    if (*foreign < 0 || *foreign >= vocabulary)
      throw training::CheckpointError(fmt::format(
          "the special token {} is not one of the {} of the vocabulary", *foreign, vocabulary));
    map.foreign[static_cast<size_t>(own)] = *foreign;
    map.written[static_cast<size_t>(own)] = !taken[static_cast<size_t>(*foreign)];
    taken[static_cast<size_t>(*foreign)] = true;
  }
  const auto add = [&](int64_t foreign) {
    if (taken[static_cast<size_t>(foreign)]) return;
    map.foreign.push_back(foreign);
    map.written.push_back(true);
    taken[static_cast<size_t>(foreign)] = true;
  };
  if (special.mask) add(*special.mask);
  for (int64_t id = 0; id < vocabulary; ++id) add(id);
  return map;
}

}  // namespace ablate::exchange
