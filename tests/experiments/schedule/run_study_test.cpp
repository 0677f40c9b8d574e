#include "experiments/schedule/run_study.h"

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"
#include "tests/says.h"
#include "training/process/machine.h"

namespace ablate::schedule {
namespace {

using std::filesystem::path;

/// The tiny study with two arms and two seeds.
class RunStudyTest : public ProgramTest {
 protected:
  RunStudyTest() {
    change("seeds: [1]", "seeds: [1, 2]");
    append("arms: { base: {}, wide: { model.d_model: 24 } }\n");
  }

  path folder_of(const std::string& output) const { return folder_ / output / "tiny"; }

  /// What must be the same however often the study was ended: every file that a run leaves, but for
  /// times, memory, messages, and what tells of its processes.
  std::map<std::string, std::string> results(const std::string& output) const {
    const std::set<std::string> varying{"log.txt", ".lock", "manifest.json"};
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_of(output))) {
      const auto name = entry.path().filename().string();
      if (!entry.is_regular_file() || varying.contains(name)) continue;
      const auto relative = std::filesystem::relative(entry.path(), folder_of(output)).string();
      if (relative.find('/') == std::string::npos || name.starts_with("events.") ||
          entry.path().parent_path().filename() == "claims")
        continue;
      auto text = read_file(entry.path());
      if (name == "result.json") {
        auto json = nlohmann::json::parse(text);
        for (const char* key : {"training_seconds", "memory_bytes", "sha256"}) json.erase(key);
        json["files"].erase("metrics.jsonl");  // it has the seconds of training
        json["tests"] = scores_in(text);
        text = json.dump();
      }
      if (name == "environment.json") {
        auto json = nlohmann::json::parse(text);
        for (const char* key : {"starts", "sha256"}) json.erase(key);
        text = json.dump();
      }
      if (name == "metrics.jsonl" || name == "state.json") text = without_seconds(text);
      files[relative] = text;
    }
    return files;
  }
};

std::string json_line(const std::string& text) {
  return nlohmann::json::parse(text.substr(0, text.find('\n'))).dump();
}

/// The processes that `parent` started.
std::vector<pid_t> children_of(pid_t parent) {
  const auto id = std::to_string(parent);
  std::istringstream list(read_file("/proc/" + id + "/task/" + id + "/children"));
  return {std::istream_iterator<pid_t>(list), {}};
}

/// Waits for the process that works on the run in `folder`, another one than `before`; 0: none
/// came.
pid_t worker_of(pid_t study, const path& folder, pid_t before = 0) {
  pid_t worker = 0;
  eventually([&] {
    for (const pid_t child : children_of(study))
      if (read_file("/proc/" + std::to_string(child) + "/cmdline").find(folder.string() + '\0') !=
              std::string::npos &&
          child != before)
        worker = child;
    return worker != 0;
  });
  return worker;
}

TEST_F(RunStudyTest, RunsOnAGpuAreDoneOneAtATimeUnlessToldOtherwise) {
  const auto jobs = [&](const std::string& device, int64_t wanted) {
    const auto planned = config::read_study(study(), {.sets = {"training.device=" + device}});
    return share_cores(planned, {.folder = folder_, .jobs = wanted, .has_gpu = true}).jobs;
  };
  EXPECT_EQ(jobs("cuda", 0), 1);
  EXPECT_EQ(jobs("auto", 0), 1);
  EXPECT_EQ(jobs("cuda", 3), 3);
  EXPECT_EQ(jobs("cpu", 0), std::min<int64_t>(4, training::available_cores()));
}

TEST_F(RunStudyTest, AKilledStudyEndsInTheSameResults) {
  ASSERT_EQ(shell(command("whole", "--jobs 2")).code, 0);
  auto held = std::make_unique<HeldBeforeSaving>(run("killed"));
  const pid_t killed = start_process(command("killed", "--jobs 2"));
  EXPECT_TRUE(eventually([&] { return !read_file(run("killed") / "metrics.jsonl").empty(); }));
  kill(killed, SIGKILL);
  EXPECT_EQ(end_of(killed), 128 + SIGKILL);

  const pid_t stopped = start_process(command("killed", "--jobs 2"));
  EXPECT_NE(worker_of(stopped, run("killed")), 0);
  kill(stopped, SIGTERM);
  held.reset();
  EXPECT_EQ(end_of(stopped), 75);

  held = std::make_unique<HeldBeforeSaving>(run("killed"));
  const pid_t finished = start_process(command("killed", "--jobs 2"));
  const pid_t worker = worker_of(finished, run("killed"));
  ASSERT_GT(worker, 0);
  kill(worker, SIGKILL);  // which the study then starts again
  EXPECT_NE(worker_of(finished, run("killed"), worker), 0);
  held.reset();
  EXPECT_EQ(end_of(finished), 0);
  EXPECT_GT(results("whole").size(), 40U);
  EXPECT_EQ(results("killed"), results("whole"));
}

TEST_F(RunStudyTest, ARunThatIsKilledIsStartedAgainAndThenReported) {
  const HeldBeforeSaving held(run("twice"));
  const pid_t study = start_process(command("twice", "--arms base --seeds 1"));
  const pid_t first = worker_of(study, run("twice"));
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  const pid_t second = worker_of(study, run("twice"), first);
  ASSERT_GT(second, 0);
  kill(second, SIGKILL);
  EXPECT_EQ(end_of(study), 6);  // memory, for all that is known
  const auto failure = read_json(run("twice") / "failure.json");
  EXPECT_EQ(failure.at("exit_code"), 128 + SIGKILL);
  EXPECT_EQ(failure.at("attempts"), 2);
}

TEST_F(RunStudyTest, AFailedRunStopsNoOtherAndSaysWhy) {
  change("wide: { model.d_model: 24 }",
         "wide: { training.pretrained_embeddings.source: narrow.txt }");
  write_file(folder_ / "narrow.txt", "a 1\n");
  const auto outcome = shell(command("out"));
  EXPECT_EQ(outcome.code, 3) << outcome.output;
  EXPECT_TRUE(std::filesystem::exists(run("out") / "result.json"));
  for (const char* text : {"copy/wide/seed-2 (exit code 3)", "exact match", "/report.html\n"})
    EXPECT_TRUE(says(outcome.output, text));
  const auto wide = folder_of("out") / "copy/wide/seed-1";
  const auto failure = read_json(wide / "failure.json");
  EXPECT_EQ(failure.at("exit_code"), 3);
  EXPECT_EQ(failure.at("attempts"), 1);
  EXPECT_TRUE(says(failure.at("message").get<std::string>(), "narrow.txt: its vectors are 1"));
  EXPECT_TRUE(says(read_file(wide / "log.txt"), "narrow.txt"));
}

TEST_F(RunStudyTest, WhatStartsFromARunThatFailsIsNotStarted) {
  change(
      "arms: { base: {}, wide: { model.d_model: 24 } }",
      "arms: { base: {}, bad: { training.schedule.peak: 90, training.optimizer: { kind: sgd } }, "
      "second: { training.init_from: { arm: bad } }, "
      "third: { training.init_from: { arm: second } } }");
  const auto outcome = shell(command("out", "--seeds 1"));
  EXPECT_TRUE(ends(outcome, 5, "runs that did not finish: copy/bad/seed-1 (exit code 5)"));
  EXPECT_TRUE(std::filesystem::exists(folder_of("out") / "copy/base/seed-1/result.json"));
  for (const auto* arm : {"second", "third"})
    EXPECT_FALSE(std::filesystem::exists(folder_of("out") / "copy" / arm / "seed-1/failure.json"));
}

TEST_F(RunStudyTest, NoRunIsStartedIntoAFullDisk) {
  std::filesystem::create_directories(run("out"));
  std::filesystem::create_symlink("/dev/full", run("out") / "metrics.jsonl");
  const auto full = shell(command("out", "--jobs 1"));
  EXPECT_TRUE(ends(full, 7, "No space left on device"));
  EXPECT_TRUE(says(full.output, "no further run is started"));
  EXPECT_FALSE(std::filesystem::exists(folder_of("out") / "copy/wide/seed-1/log.txt"));
  EXPECT_FALSE(std::filesystem::exists(folder_of("out") / "copy/wide/seed-1/config.yaml"));
  std::filesystem::remove(run("out") / "metrics.jsonl");
  EXPECT_EQ(shell(command("out")).code, 0);
}

TEST_F(RunStudyTest, AChangedFileIsRefusedBeforeAnyRunStarts) {
  ASSERT_EQ(shell(command("out", "--seeds 1")).code, 0);
  const auto before = results("out");
  change("steps: 60", "steps: 61");
  const auto refused = shell(command("out", "--seeds 2"));
  EXPECT_TRUE(ends(refused, 2, "\n  training.steps: 60 before, 61 now\n"));
  for (const auto* look : {"--seeds 2 --list", "--seeds 2 --dry-run"})
    EXPECT_EQ(shell(command("out", look)).output, refused.output) << look;
  EXPECT_EQ(results("out"), before);
  change("steps: 61", "steps: 60");
  EXPECT_TRUE(ends(shell(command("out", "--set training.max_grad_norm=1")), 2,
                   "training.max_grad_norm: not set before, 1 now"));
  EXPECT_EQ(shell(command("out", "--seeds 2 --arms base")).code, 0);
}

TEST_F(RunStudyTest, ArmsAndSeedsMayBeAddedToAStudy) {
  ASSERT_EQ(shell(command("out")).code, 0);
  const auto before = results("out");
  change("seeds: [1, 2]", "seeds: [1, 2, 3]");
  change("base: {}", "base: {}, narrow: { model.d_model: 8 }");
  EXPECT_TRUE(ends(shell(command("out")), 0, "9 runs, 5 to do"));
  EXPECT_EQ(read_file(folder_of("out") / "study.yaml"), read_file(study()));
  const auto after = results("out");
  for (const auto& [name, text] : before) EXPECT_EQ(after.at(name), text) << name;
}

TEST_F(RunStudyTest, EditingTheFileDuringARunChangesNothing) {
  ASSERT_EQ(shell(command("whole", "--jobs 1")).code, 0);
  const pid_t edited = start_process(command("edited", "--jobs 1"));
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(run("edited") / "config.yaml"); }));
  change("steps: 60", "steps: 10");
  EXPECT_EQ(end_of(edited), 0);
  EXPECT_EQ(results("edited"), results("whole"));
}

TEST_F(RunStudyTest, LinesOfRunsNeverMixAndNothingIsRedrawnInAPipe) {
  const auto outcome = shell(command("out", "--json"));
  ASSERT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output.find_first_of("\r\033\x1e"), std::string::npos);
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.starts_with("copy/") || line.starts_with("tiny: 4 runs") ||
                line.starts_with("results: ") || line.starts_with("report: ") ||
                !json_line(line).empty())
        << line;
}

}  // namespace
}  // namespace ablate::schedule
