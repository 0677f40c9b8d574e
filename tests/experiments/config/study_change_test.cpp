#include "experiments/config/study/study_change.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

constexpr const char* kThen =
    "name: s\nseeds: [1, 2]\n"
    "question: does it matter?\n"
    "base: {data: {task: copy}, training: {steps: 7}}\n"
    "arms: {a: {}, b: {model.layers: 2}}\n"
    "compare: {baseline: a, metric: bleu}\n"
    "expect: [a.bleu within 1 of 2, a.bleu > 0]\n";

std::string with(const std::string& from, const std::string& to) {
  return replaced(kThen, from, to);
}

std::vector<std::string> changes_to(const std::string& now) {
  return changes(study_of(kThen), study_of(now));
}

using Lines = std::vector<std::string>;

TEST(StudyChange, ArmsTasksAndSeedsMayBeAdded) {
  EXPECT_EQ(changes_to(kThen), Lines{});
  EXPECT_EQ(changes_to(with("[1, 2]", "[3, 1, 2]")), Lines{});
  EXPECT_EQ(changes_to(with("a: {}", "a: {}, c: {model.layers: 3}")), Lines{});
  EXPECT_EQ(changes_to(with("[1, 2]", "[1, 2, 3]\ntime: 8 minutes")), Lines{});
}

TEST(StudyChange, AnotherWayToSayTheSameIsNone) {
  EXPECT_EQ(changes_to(with("arms: {a: {}, b: {model.layers: 2}}",
                            "arms:  # two\n  a: {}\n  b: {model: {layers: 2}}")),
            Lines{});
}

TEST(StudyChange, AValueIsNamedOnceWithTheRunsThatItChanges) {
  EXPECT_EQ(changes_to(with("steps: 7", "steps: 9")), Lines{"training.steps: 7 before, 9 now"});
  EXPECT_EQ(changes_to(with("layers: 2", "layers: 3")),
            Lines{"model.layers: 2 before, 3 now (copy/b)"});
}

TEST(StudyChange, ArmsAndSeedsThatAreGoneAreNamed) {
  EXPECT_EQ(changes_to(with("a: {}, b:", "a:")),
            (Lines{"copy/b: missing now", "model.layers: 6 before, 2 now"}));
  EXPECT_EQ(changes_to(with("[1, 2]", "[2]")), Lines{"seed 1: missing now"});
}

TEST(StudyChange, SeedsMayBeAddedToACrossButNotCrossedLater) {
  const auto with_seeds = [](const std::string& seeds) { return study_of(with("[1, 2]", seeds)); };
  const auto pairs = with_seeds("{initialization: [1, 2], order: [1, 2]}");
  const auto more = with_seeds("{initialization: [1, 2], order: [3, 1, 2]}");
  const auto listed = with_seeds("[1001, 1002, 2001, 2002]");
  EXPECT_EQ(changes(pairs, more), Lines{});
  EXPECT_EQ(changes(more, pairs), (Lines{"seed 1003: missing now", "seed 2003: missing now"}));
  EXPECT_EQ(changes(pairs, listed), Lines{"seeds: crossed before, a list now"});
  EXPECT_EQ(changes(listed, pairs), Lines{"seeds: a list before, crossed now"});
}

TEST(StudyChange, WhatTheStudyClaimsIsPartOfIt) {
  EXPECT_EQ(changes_to(with("bleu", "chrf")), Lines{"compare.metric: bleu before, chrf now"});
  EXPECT_EQ(changes_to(with("expect: [a.bleu within 1 of 2, a.bleu > 0]\n", "")),
            Lines{"expect: [a.bleu within 1 of 2, a.bleu > 0] before, not set now"});
}

TEST(StudyChange, SetsAreComparedByTheirLastValue) {
  EXPECT_EQ(changed_sets({"a=1", "b=2"}, {"b=2", "a=3", "a=1"}), Lines{});
  EXPECT_EQ(changed_sets({"a=1"}, {"a=2", "c=x=y"}),
            (Lines{"a: 1 before, 2 now", "c: not set before, x=y now"}));
}

}  // namespace
}  // namespace ablate::config
