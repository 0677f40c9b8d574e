#include "experiments/records/run_plan.h"
#include "tests/experiments/program.h"
#include "training/process/progress.h"

namespace ablate {
namespace {

/// Resident memory of a process in KiB; 0 when it has ended.
int64_t resident(const std::string& process) {
  for (const auto& line : lines_of(read_file("/proc/" + process + "/status")))
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

/// The next line of a pipe without its end; nothing at the end of the pipe.
std::optional<std::string> next_line(FILE* pipe) {
  std::string line;
  for (int c = fgetc(pipe); c != '\n'; c = fgetc(pipe)) {
    if (c == EOF) return {};
    line += static_cast<char>(c);
  }
  return line;
}

// Memory is read whenever the run tells where it stands.
TEST_F(ProgramTest, MemoryDoesNotGrowOverALongRun) {
  const auto planned =
      config::read_study(study(), {.sets = {"training.steps=100000", "training.evaluate_every=1000",
                                            "training.save_every=1000"}});
  records::write_plan(run("out"), planned, planned.runs.at(0));
  FILE* pipe = popen(("echo $$; exec " + kProgram +  // the shell's id is then the program's
                      " train " + run("out").string() + " --threads 1 2>&1")
                         .c_str(),
                     "r");
  const auto process = next_line(pipe).value();
  int64_t early = 0, late = 0, last_step = 0;
  while (const auto line = next_line(pipe)) {
    const auto record = training::read_record(*line);
    if (!record || record->stage != training::Stage::training || record->step < 5'000) continue;
    const auto memory = resident(process);
    if (early == 0) early = memory;
    if (memory > 0) late = memory;
    last_step = record->step;
  }
  ASSERT_EQ(pclose(pipe), 0);
  EXPECT_EQ(last_step, 100'000);
  ASSERT_GT(early, 0);
  RecordProperty("resident_kib_at_step_5000", std::to_string(early));
  RecordProperty("resident_kib_at_the_end", std::to_string(late));
  EXPECT_LT(late - early, 8 * 1024) << "KiB at step 5,000: " << early << ", at the end: " << late;
}

}  // namespace
}  // namespace ablate
