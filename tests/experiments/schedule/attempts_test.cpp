#include "experiments/schedule/worker.h"
#include "tests/experiments/program.h"
#include "tests/says.h"
#include "training/storage/errors.h"

namespace ablate::schedule {
namespace {

class AttemptsTest : public ProgramTest {
 protected:
  Attempts attempts() const { return {records::RunFolder(folder_), {}}; }
  std::filesystem::path log() const { return records::RunFolder(folder_).messages(); }
};

TEST_F(AttemptsTest, WhatAProcessSaysIsKeptBehindWhatOthersSaid) {
  auto one = attempts();
  one.end(0);
  EXPECT_FALSE(std::filesystem::exists(log())) << "it said nothing";
  for (const char* line : {"a", "b"}) {
    one.on_output_line(line);
    one.on_output_line("end");
    one.end(0);
  }
  EXPECT_EQ(read_file(log()), "a\nend\nb\nend\n");
}

TEST_F(AttemptsTest, AMessageThatCannotBeKeptIsAnErrorWithItsReason) {
  std::filesystem::create_symlink("/dev/full", log());
  auto one = attempts();
  const auto why = refusal_of<training::IoError>([&] { one.on_output_line("ablate: the reason"); });
  EXPECT_TRUE(says(why, "No space left"));
  EXPECT_TRUE(says(why, log().string()));
}

}  // namespace
}  // namespace ablate::schedule
