#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/corpora/recipe.h"

namespace ablate::corpora {

/// Two texts that belong together, and the document that both are from.
struct Pair {
  std::string document;
  std::string source, target;
  bool operator==(const Pair&) const = default;
};

enum class Part { train, validation, test };
inline constexpr std::array kParts{Part::train, Part::validation, Part::test};

/// "train", "validation" or "test".
std::string_view name_of(Part part);

/// How many documents of a thousand are held out.
struct HeldOut {
  uint32_t validation = 20;
  uint32_t test = 20;
};

/// Where a document belongs: drawn from its name alone, so that it stays there whatever else a
/// corpus holds.
Part part_of(std::string_view document, const HeldOut& held_out);

/// Files <part>.<source suffix> and <part>.<target suffix>, a line for each pair, in the order
/// given.
Made in_two_files(const std::vector<Pair>& pairs, const std::array<std::string, 2>& suffixes,
                  const HeldOut& held_out);

/// Files <part>.tsv, a pair in each line.
Made in_one_file(const std::vector<Pair>& pairs, const HeldOut& held_out);

}  // namespace ablate::corpora
