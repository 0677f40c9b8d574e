#include "experiments/config/study/study_change.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"
#include "tests/message_table.h"

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

using Lines = std::vector<std::string>;

TEST(StudyChange, IsWhatTheTableSays) {
  EXPECT_EQ(changes(study_of(kThen), study_of(kThen)), Lines{});
  MessageTable(ABLATE_SOURCE "/tests/experiments/config/study_changes.txt")
      .check([](const MessageRow& row) {
        const auto now = with(row.values("--from").at(0), row.values("--to").at(0)) + row.text;
        const auto lines = changes(study_of(kThen), study_of(now));
        return lines.empty() ? "nothing" : fmt::format("{}", fmt::join(lines, "\n"));
      });
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

TEST(StudyChange, SetsAreComparedByTheirLastValue) {
  EXPECT_EQ(changed_sets({"a=1", "b=2"}, {"b=2", "a=3", "a=1"}), Lines{});
  EXPECT_EQ(changed_sets({"a=1"}, {"a=2", "c=x=y"}),
            (Lines{"a: 1 before, 2 now", "c: not set before, x=y now"}));
}

}  // namespace
}  // namespace ablate::config
