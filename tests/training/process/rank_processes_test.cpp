#include "training/process/rank_processes.h"

#include <gtest/gtest.h>

#include "tests/experiments/waiting.h"

namespace ablate::training {
namespace {

const std::filesystem::path kFile = std::filesystem::path(testing::TempDir()) / "ranks";

std::string end_of_ranks(const std::string& script) {
  const RankProcesses ranks({"/bin/sh", "-c", script}, 3, kFile);
  EXPECT_TRUE(eventually([&] { return !ranks.lost().empty(); }));
  return ranks.lost();
}

TEST(RankProcesses, TellHowOneOfThemEnded) {
  EXPECT_EQ(end_of_ranks("[ $RANK = 1 ] || exit 3; exec sleep 600"),
            "rank 2 ended with exit code 3");
  EXPECT_EQ(end_of_ranks("[ $RANK = 2 ] || kill -9 $$; exec sleep 600"),
            "rank 1 ended with signal 9");
}

TEST(RankProcesses, NoneIsLostThatRuns) {
  const RankProcesses ranks({"/bin/sleep", "600"}, 2, kFile);
  EXPECT_EQ(ranks.lost(), "");
}

}  // namespace
}  // namespace ablate::training
