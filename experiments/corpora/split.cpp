#include "experiments/corpora/split.h"

#include <charconv>

#include "tokenizer/digest.h"

namespace ablate::corpora {
namespace {

constexpr uint32_t kThousand = 1000;

std::vector<Count> counts_of_parts(const std::vector<Pair>& pairs, const HeldOut& held_out) {
  std::vector<Count> counts;
  for (const auto part : kParts) counts.push_back({std::string(name_of(part)) + " pairs"});
  for (const auto& pair : pairs)
    ++counts[static_cast<size_t>(part_of(pair.document, held_out))].number;
  return counts;
}

}  // namespace

std::string_view name_of(Part part) {
  constexpr std::array<std::string_view, 3> kNames{"train", "validation", "test"};
  return kNames[static_cast<size_t>(part)];
}

Part part_of(std::string_view document, const HeldOut& held_out) {
  const auto digits = tokenizer::sha256(document).substr(0, 8);
  uint32_t drawn = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), drawn, 16);
  drawn %= kThousand;
  if (drawn < held_out.test) return Part::test;
  return drawn < held_out.test + held_out.validation ? Part::validation : Part::train;
}

Made in_two_files(const std::vector<Pair>& pairs, const std::array<std::string, 2>& suffixes,
                  const HeldOut& held_out) {
  Made made{.counts = counts_of_parts(pairs, held_out)};
  for (const auto& pair : pairs) {
    const std::string part(name_of(part_of(pair.document, held_out)));
    made.files[part + "." + suffixes[0]] += pair.source + "\n";
    made.files[part + "." + suffixes[1]] += pair.target + "\n";
  }
  return made;
}

Made in_one_file(const std::vector<Pair>& pairs, const HeldOut& held_out) {
  Made made{.counts = counts_of_parts(pairs, held_out)};
  for (const auto& pair : pairs)
    made.files[std::string(name_of(part_of(pair.document, held_out))) + ".tsv"] +=
        pair.source + "\t" + pair.target + "\n";
  return made;
}

}  // namespace ablate::corpora
