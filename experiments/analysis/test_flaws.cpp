#include "experiments/analysis/test_flaws.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ablate::analysis {
namespace {

using data::Compared;

struct Flaw {
  double (*of)(const records::TestScores&);
  const char* what;     // stands before the arms
  const char* meaning;  // and behind them
  std::optional<Compared> only = {};
  bool share = false;
};

double cut_outputs(const records::TestScores& test) {
  return static_cast<double>(test.cut_outputs);
}
double altered(const records::TestScores& test) {
  return static_cast<double>(test.altered_references);
}
double unwritable(const records::TestScores& test) {
  return static_cast<double>(test.unwritable_references);
}

constexpr auto kFlaws = std::to_array<Flaw>(
    {{.of = [](const records::TestScores& test) { return test.unknown_targets; },
      .what = "unknown tokens among the targets",
      .meaning = "what they hide is spelled out in nats and bits per character, at ln 257 nats a "
                 "byte; in perplexity and token accuracy an unknown token is a token as any other",
      .share = true},
     {.of = cut_outputs,
      .what = "outputs cut at the greatest length",
      .meaning = "see decoding.max_length and decoding.max_ratio"},
     {.of = altered,
      .what = "targets that the tokenizer writes otherwise",
      .meaning = "exact match and word error rate compare both sides as it normalises them, and "
                 "nats and bits per character are of what it writes",
      .only = Compared::text},
     {.of = altered,
      .what = "lines that the tokenizer writes otherwise",
      .meaning = "nats and bits per character are of what it writes",
      .only = Compared::nothing},
     {.of = unwritable,
      .what = "targets that the tokenizer cannot write",
      .meaning = "no output is an exact match of them",
      .only = Compared::text}});

/// Something that runs of one task have on one of their test sets.
struct Place {
  std::string task, test_set;
  int64_t examples;
  bool operator==(const Place&) const = default;
};

std::vector<Place> places_of(std::span<const records::RunResult> results) {
  std::vector<Place> places;
  for (const auto& run : results)
    for (const auto& test : run.tests)
      if (Place place{run.task, test.name, test.examples};
          std::ranges::find(places, place) == places.end())
        places.push_back(std::move(place));
  return places;
}

struct ArmFlaw {
  std::string arm;
  double most;
};

std::vector<ArmFlaw> arms_with(const Flaw& flaw, const Place& place,
                               std::span<const records::RunResult> results) {
  std::vector<ArmFlaw> arms;
  for (const auto& run : results)
    for (const auto& test : run.tests) {
      if (Place{run.task, test.name, test.examples} != place) continue;
      if (!(flaw.of(test) > 0) || flaw.only.value_or(test.compared) != test.compared) continue;
      const auto known = std::ranges::find(arms, run.arm, &ArmFlaw::arm);
      if (known == arms.end())
        arms.push_back({run.arm, flaw.of(test)});
      else
        known->most = std::max(known->most, flaw.of(test));
    }
  return arms;
}

}  // namespace

void add_test_flaws(std::span<const records::RunResult> results, std::vector<std::string>& notes) {
  for (const auto& place : places_of(results))
    for (const auto& flaw : kFlaws) {
      std::vector<std::string> figures;
      for (const auto& [arm, most] : arms_with(flaw, place, results))
        figures.push_back(flaw.share ? fmt::format("{} {:.2g} %", arm, 100 * most)
                                     : fmt::format("{} {:.0f} of {}", arm, most, place.examples));
      if (!figures.empty())
        notes.push_back(fmt::format("{} ({}): {}: {} (the most of any seed); {}.", place.task,
                                    place.test_set, flaw.what, fmt::join(figures, ", "),
                                    flaw.meaning));
    }
}

}  // namespace ablate::analysis
