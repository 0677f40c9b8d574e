#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace ablate::tokenizer {

/// The ids that a file gives to the special tokens of special_tokens.h; none for one that it lacks.
/// Several may be the same token, as in GPT-2.
struct SpecialIds {
  std::optional<int32_t> pad, bos, eos, unk, mask;
};

/// Whether a tokenizer writes the start token before a text and the end token behind it.
struct Framing {
  bool start = true, end = true;
  bool operator==(const Framing&) const = default;
};

/// Adds those that `ids` lacks.
void add_missing(SpecialIds& ids, const SpecialIds& more);

/// The ids of a file and ours: the special tokens first, then the file's others in its order. The
/// file of a tokenizer that was trained here has our ids already. Special tokens that the file
/// lacks have an id all the same, except the mask.
class IdMap {
 public:
  /// A file with ids from 0 to size - 1. Throws TokenizerError if a special id is none of them.
  IdMap(int64_t size, const SpecialIds& specials);

  /// Our ids are from 0 to size() - 1.
  int64_t size() const { return static_cast<int64_t>(theirs_.size()); }
  /// The file's are from 0 to file_size() - 1.
  int64_t file_size() const { return static_cast<int64_t>(ours_.size()); }
  /// The file's id; none for a special token that the file lacks. REQUIRES: an id of ours.
  std::optional<int32_t> theirs(int32_t ours) const;
  /// Our id. A token that is several special ones is the first of the end, the start, padding, the
  /// mask and unknown text. REQUIRES: an id of the file.
  int32_t ours(int32_t theirs) const { return ours_[static_cast<size_t>(theirs)]; }
  /// The same of all ids, negative where there is none.
  const std::vector<int32_t>& theirs() const { return theirs_; }
  const std::vector<int32_t>& ours() const { return ours_; }
  /// Whether it is our id of its token: not of a special token that the file lacks, nor a second
  /// one of the same token. REQUIRES: an id of ours.
  bool is_written(int32_t id) const {
    const auto its = theirs(id);
    return its && ours(*its) == id;
  }

 private:
  std::vector<int32_t> theirs_;  // negative if there is none
  std::vector<int32_t> ours_;
};

}  // namespace ablate::tokenizer
