#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "experiments/schedule/study_status.h"

namespace ablate::schedule {
namespace {

using training::ProgressRecord;
using training::Stage;

constexpr TerminalSize kWide{100, 24};

/// A table whose clock stands still until the test moves it.
class LiveTableTest : public testing::Test {
 protected:
  LiveTable::Options options(bool terminal, int64_t runs) {
    return {.stream = stream_, .terminal = terminal, .runs = runs, .now = [this] { return now_; }};
  }

  std::ostringstream stream_;
  LiveTable::Clock::time_point now_;
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

TEST_F(LiveTableTest, ATerminalHasALineForEachRunningRunAndASummary) {
  auto five = options(true, 5);
  five.finished = five.parallel = 2;
  LiveTable table(five);
  table.start("copy/a/seed-1");
  table.start("copy/learned/seed-1");
  table.at("copy/a/seed-1", at_step(15));
  table.draw(kWide);
  EXPECT_EQ(stream_.str(),
            "copy/a/seed-1        step 15/60  25%  loss 1.5000  4211 tokens/s  1:01<1:01:40\n"
            "copy/learned/seed-1  preparing data\n"
            "2 of 5 runs done, 2 running; about 1:32:30 left\n");
}

TEST_F(LiveTableTest, DrawingAgainReplacesTheLinesOfBefore) {
  LiveTable table(options(true, 1));
  table.start("r");
  table.draw(kWide);
  stream_.str("");
  table.at("r", {.stage = Stage::evaluating});
  table.draw(kWide);
  EXPECT_EQ(stream_.str().substr(0, 25), "\033[2A\033[Jr  evaluating\n0 of");
  stream_.str("");
  table.say("r", "hello");
  EXPECT_EQ(stream_.str(), "\033[2A\033[Jr: hello\n");
}

TEST_F(LiveTableTest, NoLineIsWiderThanTheTerminalAndNoTableHigher) {
  LiveTable table(options(true, 9));
  for (int i = 0; i < 9; ++i)
    table.start("a-rather-long-name/\xc3\xa4rm/seed-" + std::to_string(i));
  table.draw({21, 4});
  EXPECT_EQ(stream_.str(),
            "a-rather-long-name/\xc3\xa4\na-rather-long-name/\xc3\xa4\n0 of 9 runs done, 9 \n");
}

TEST_F(LiveTableTest, ElsewhereThereIsAWholeLineEveryHalfMinute) {
  {
    LiveTable table(options(false, 1));
    table.start("r");
    for (int64_t step = 1; step <= 60; ++step) {
      now_ += std::chrono::seconds(1);
      table.at("r", at_step(step));
      table.draw(kWide);
    }
    table.end("r", "");
  }
  EXPECT_EQ(stream_.str(),
            "r: step 30/60  50%  loss 1.5000  4211 tokens/s  1:01<1:01:40\n"
            "r: step 60/60 100%  loss 1.5000  4211 tokens/s  1:01<1:01:40\n"
            "r: finished, 1:00 (1 of 1 runs done)\n");
}

TEST_F(LiveTableTest, FailuresAreCountedAndTheirTextMovesNoCursor) {
  LiveTable table(options(true, 2));
  table.start("r");
  table.say("r",
            "bad \033[2Jtext\r \xc2\x9b"
            "2J \xff \u202e");
  table.say("r", "two\nlines");
  table.end("r", "failed with exit code 5");
  table.draw(kWide);
  EXPECT_EQ(stream_.str(),
            "r: bad ?[2Jtext? ??2J ? ???\n"
            "r: two lines\n"
            "r: failed with exit code 5, 0:00 (0 of 2 runs done)\n"
            "0 of 2 runs done, 0 running, 1 failed; about 0:00 left\n");
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
