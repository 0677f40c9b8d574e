#include "training/ranks/rank_place.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace ablate::training {
namespace {

/// The variables of the environment while it lives; all others that tell of ranks are unset.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& variables) {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const char* name : kNames) unsetenv(name);
  }

 private:
  static constexpr const char* kNames[] = {"RANK",
                                           "WORLD_SIZE",
                                           "MASTER_ADDR",
                                           "MASTER_PORT",
                                           "ABLATE_RANK_FILE",
                                           "SLURM_PROCID",
                                           "SLURM_NTASKS",
                                           "SLURM_RESTART_COUNT",
                                           "TORCHELASTIC_RESTART_COUNT",
                                           "TORCHELASTIC_USE_AGENT_STORE"};
};

TEST(RankPlace, AProcessThatNobodyPlacedIsNone) {
  const Environment none({});
  EXPECT_FALSE(place_of_this_process(2));
}

TEST(RankPlace, TakesTorchrunsWord) {
  const Environment torchrun({{"RANK", "1"},
                              {"WORLD_SIZE", "4"},
                              {"MASTER_ADDR", "n1"},
                              {"MASTER_PORT", "29500"},
                              {"TORCHELASTIC_RESTART_COUNT", "2"},
                              {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  const auto place = place_of_this_process(4);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->size, 4);
  EXPECT_EQ(place->host, "n1");
  EXPECT_EQ(place->port, 29500);
  EXPECT_TRUE(place->served);
  EXPECT_EQ(place->attempt, "2");
}

TEST(RankPlace, TakesSlurmsWordWhereSrunStartedSeveral) {
  std::map<std::string, std::string> variables{
      {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "1"}};
  {
    const Environment srun(variables);
    const auto place = place_of_this_process(4);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->rank, 3);
    EXPECT_FALSE(place->served);
  }
  variables["SLURM_NTASKS"] = "1";
  const Environment one(variables);
  EXPECT_FALSE(place_of_this_process(4)) << "ranks of one task are started by it";
}

TEST(RankPlace, AnotherNumberOrAMissingAddressIsAnError) {
  const Environment other({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_THROW(place_of_this_process(4), std::invalid_argument);
  EXPECT_THROW(place_of_this_process(2), std::invalid_argument);
  setenv("MASTER_ADDR", "n1", 1);
  setenv("MASTER_PORT", "many", 1);
  EXPECT_THROW(place_of_this_process(2), std::invalid_argument);
}

TEST(RankPlace, ANumberWithMoreBehindItOrBeyondItsRangeIsAnError) {
  const Environment torchrun(
      {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "1"}});
  ASSERT_TRUE(place_of_this_process(2));
  for (const char* rank : {"1x", "1.0", " 1", "-1", "2", "99999999999999999999", ""}) {
    setenv("RANK", rank, 1);
    EXPECT_THROW(place_of_this_process(2), std::invalid_argument) << rank;
  }
  setenv("RANK", "1", 1);
  setenv("MASTER_PORT", "70000", 1);  // 4464 of 16 bits
  EXPECT_THROW(place_of_this_process(2), std::invalid_argument);
}

}  // namespace
}  // namespace ablate::training
