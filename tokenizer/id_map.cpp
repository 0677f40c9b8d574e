#include "tokenizer/id_map.h"

#include <string>
#include <utility>

#include "tokenizer/special_tokens.h"
#include "tokenizer/text/tokenizer_error.h"

namespace ablate::tokenizer {

void add_missing(SpecialIds& ids, const SpecialIds& more) {
  const auto fill = [](auto& id, const auto& other) {
    if (!id) id = other;
  };
  fill(ids.pad, more.pad);
  fill(ids.bos, more.bos);
  fill(ids.eos, more.eos);
  fill(ids.unk, more.unk);
  fill(ids.mask, more.mask);
}

IdMap::IdMap(int64_t size, const SpecialIds& specials) : ours_(static_cast<size_t>(size), -1) {
  const std::array<std::pair<int32_t, std::optional<int32_t>>, 5> roles = {{{kEos, specials.eos},
                                                                            {kBos, specials.bos},
                                                                            {kPad, specials.pad},
                                                                            {kMask, specials.mask},
                                                                            {kUnk, specials.unk}}};
  theirs_.assign(specials.mask ? kMask + 1 : kUnk + 1, -1);
  for (const auto& [role, id] : roles) {
    if (!id) continue;
    if (*id < 0 || *id >= size)
      throw TokenizerError("the special token " + std::to_string(*id) + " is outside of the " +
                           std::to_string(size) + " tokens");
    theirs_[static_cast<size_t>(role)] = *id;
    auto& known = ours_[static_cast<size_t>(*id)];
    if (known < 0) known = role;
  }
  for (size_t id = 0; id < ours_.size(); ++id) {
    if (ours_[id] >= 0) continue;
    ours_[id] = static_cast<int32_t>(theirs_.size());
    theirs_.push_back(static_cast<int32_t>(id));
  }
}

std::optional<int32_t> IdMap::theirs(int32_t ours) const {
  const auto id = theirs_[static_cast<size_t>(ours)];
  return id < 0 ? std::nullopt : std::optional(id);
}

}  // namespace ablate::tokenizer
