#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "experiments/schedule/study_status.h"

namespace ablate::schedule {
namespace {

using training::ProgressRecord;
using training::Stage;

/// Lines whose clock stands still until the test moves it.
class ProgressLinesTest : public testing::Test {
 protected:
  ProgressLines::Options options(int64_t runs) {
    return {.stream = stream_, .before = {.trials = {}, .runs = {.all = runs}}, .now = [this] {
              return now_;
            }};
  }

  std::ostringstream stream_;
  ProgressLines::Clock::time_point now_;
};

ProgressRecord at_step(int64_t step) {
  return {.stage = Stage::training,
          .step = step,
          .steps = 60,
          .loss = 1.5,
          .tokens_per_second = 4210.7,
          .seconds = 61,
          .seconds_left = 3700};
}

TEST_F(ProgressLinesTest, ComeEveryHalfMinuteAndAtTheEnd) {
  ProgressLines lines(options(1));
  lines.start("r");
  for (int64_t step = 1; step <= 60; ++step) {
    now_ += std::chrono::seconds(1);
    lines.at("r", at_step(step));
  }
  lines.end("r", "");
  EXPECT_EQ(stream_.str(),
            "r: step 30/60  50%  loss 1.5000  4211 tokens/s  1:01<1:01:40\n"
            "r: step 60/60 100%  loss 1.5000  4211 tokens/s  1:01<1:01:40\n"
            "r: finished, 1:00 (1 of 1 runs done)\n");
}

TEST_F(ProgressLinesTest, TellAtEachEndHowLongTheRestTakes) {
  auto five = options(5);
  five.before.runs.ended = five.parallel = 2;
  ProgressLines lines(five);
  lines.start("a");
  lines.start("b");
  lines.at("b", at_step(15));
  now_ += std::chrono::seconds(300);
  lines.end("a", "");
  EXPECT_EQ(stream_.str(), "a: finished, 5:00 (3 of 5 runs done; about 48:45 left)\n");
}

TEST_F(ProgressLinesTest, CountTheSearchAndTheTimeOfAllThatFollows) {
  auto three = options(3);
  three.before.trials = {.ended = 1, .all = 3};
  ProgressLines lines(three);
  for (const auto* trial : {"a", "b"}) {
    lines.start(trial, true);
    now_ += std::chrono::seconds(60);
    lines.end(trial, "");
  }
  lines.start("c");
  lines.end("c", "");
  EXPECT_EQ(stream_.str(),
            "a: finished, 1:00 (search: 2 of 3 trials; then 3 runs; about 4:00 left)\n"
            "b: finished, 1:00 (0 of 3 runs done; about 3:00 left)\n"
            "c: finished, 0:00 (1 of 3 runs done; about 1:20 left)\n");
}

TEST_F(ProgressLinesTest, FailuresAreCountedAndTheirTextMovesNoCursor) {
  ProgressLines lines(options(2));
  lines.start("r");
  lines.say("r",
            "bad \033[2Jtext\r \xc2\x9b"
            "2J \xff \u202e");
  lines.say("r", "two\nlines");
  lines.end("r", "failed with exit code 5");
  EXPECT_EQ(stream_.str(),
            "r: bad ?[2Jtext? ??2J ? ???\n"
            "r: two lines\n"
            "r: failed with exit code 5, 0:00 (0 of 2 runs done; about 0:00 left)\n");
}

TEST(ProgressRecord, IsReadBackAndMessagesAreNone) {
  std::ostringstream stream;
  auto record = at_step(7);
  record.seconds_left = std::nan("");
  write_record(stream, record);
  auto line = stream.str();
  ASSERT_EQ(line.back(), '\n');
  line.pop_back();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = training::read_record(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->step, 7);
  EXPECT_EQ(read->stage, Stage::training);
  EXPECT_EQ(read->loss, 1.5);
  EXPECT_TRUE(std::isnan(read->seconds_left));
  EXPECT_FALSE(training::read_record(line.substr(1)));
  EXPECT_FALSE(training::read_record(line.substr(0, line.size() - 1)));
  EXPECT_FALSE(training::read_record("\x1e{}"));
}

}  // namespace
}  // namespace ablate::schedule
