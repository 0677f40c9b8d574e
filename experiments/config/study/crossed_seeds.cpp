#include "experiments/config/study/crossed_seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "experiments/config/study/claim_check.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/selection.h"

namespace ablate::config {
namespace {

constexpr const char* kSeedsKey = "seeds";
const std::vector<std::string> kFactors{"initialization", "order"};

/// The seeds of one of the two lists; empty if something is wrong with it.
std::vector<int64_t> factor_seeds(const Value& mapping, const std::string& factor,
                                  ProblemList& problems) {
  const auto* entry = mapping.find(factor);
  if (entry == nullptr || entry->value.type != Value::Type::list || entry->value.items.size() < 2) {
    problems.add(entry == nullptr ? mapping.mark : entry->value.mark,
                 fmt::format("seeds.{} must list two seeds or more to be crossed, such as [1, 2, "
                             "3]; without crossing, seeds itself is such a list",
                             factor));
    return {};
  }
  std::vector<int64_t> seeds;
  for (const auto& item : entry->value.items) {
    const auto seed = parse_integer(item).value;
    if (!seed || *seed < 0 || *seed >= kCrossedSeeds)
      problems.add(item.mark, fmt::format("seeds.{} must list whole numbers from 0 to {}", factor,
                                          kCrossedSeeds - 1));
    else if (std::ranges::find(seeds, *seed) != seeds.end())
      problems.add(item.mark, fmt::format("seed {} is given twice", *seed));
    else
      seeds.push_back(*seed);
  }
  return seeds;
}

Value listed_pairs(const Value& mapping, ProblemList& problems) {
  for (const auto& entry : mapping.entries)
    require_known(entry.key, kFactors, {"key", kSeedsKey, entry.mark}, problems);
  Value list{.type = Value::Type::list, .mark = mapping.mark};
  const auto orders = factor_seeds(mapping, kFactors[1], problems);
  for (const int64_t initialization : factor_seeds(mapping, kFactors[0], problems))
    for (const int64_t order : orders)
      list.items.push_back({.type = Value::Type::scalar,
                            .scalar = std::to_string(kCrossedSeeds * initialization + order),
                            .mark = mapping.mark});
  return list;
}

}  // namespace

Value with_listed_pairs(Value document, std::optional<Value>& crossed, ProblemList& problems) {
  const auto given = std::ranges::find(document.entries, kSeedsKey, &Entry::key);
  if (given == document.entries.end()) return document;
  crossed.reset();
  if (given->value.type != Value::Type::mapping) return document;
  crossed = given->value;
  given->value = listed_pairs(*crossed, problems);
  return document;
}

void check_crossed(ParsedStudy& study) {
  if (!study.crossed) return;
  std::vector<std::string> refused{"tune", "sizes"};
  if (study.given("arms")) refused.emplace_back("grid");
  for (const auto* claim : {"claim", "margin", "forecast", "published", "regime", "arms", "test",
                            "correction", "cost_to", "fit"})
    refused.push_back(join_path("compare", claim));
  for (const auto& key : refused)
    if (study.given(key) && study.readable(key))
      study.problems.add(
          study.tree.place(key),
          fmt::format("{} is not for crossed seeds, whose runs are not tested; leave it out, or "
                      "list plain seeds, such as [1, 2, 3, 4, 5, 6]",
                      key));
}

void check_pairs(const std::vector<int64_t>& seeds, const ParsedStudy& study,
                 ProblemList& problems) {
  for (const int64_t seed : seeds)
    if (std::ranges::find(study.keys.seeds, seed) == study.keys.seeds.end())
      problems.add(mark_of_seeds(seeds),
                   fmt::format("{} is no seed of this study, whose seeds are {} * initialization + "
                               "order; write both into its seeds",
                               seed, kCrossedSeeds));
}

}  // namespace ablate::config
