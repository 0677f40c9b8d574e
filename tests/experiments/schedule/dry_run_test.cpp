#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"
#include "tests/says.h"

namespace ablate::schedule {
namespace {

uintmax_t size_of(const std::filesystem::path& folder, const std::string& ending) {
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().string().ends_with(ending)) bytes += entry.file_size();
  return bytes;
}

TEST_F(ProgramTest, ADryRunTellsWhatTheRunsThenTakeAndWritesNothing) {
  const auto line = nlohmann::json::parse(output_of(shell(command("out", "--dry-run --json"))));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  EXPECT_EQ(line.at("run"), "copy/base/seed-1");
  EXPECT_EQ(line.at("state"), "new");
  const auto& estimate = line.at("estimate");
  ASSERT_EQ(shell(command("out")).code, 0);
  const auto result = read_json(run("out") / "result.json");
  EXPECT_EQ(estimate.at("parameters"), result.at("parameters"));
  EXPECT_EQ(estimate.at("steps"), result.at("steps"));
  const double flops =
      3 * result.at("flops_per_token").get<double>() * result.at("tokens").get<double>();
  EXPECT_NEAR(estimate.at("flops").get<double>() / flops, 1, 0.15);
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory for a while
  EXPECT_NEAR(estimate.at("memory_bytes").get<double>() / result.at("memory_bytes").get<double>(),
              1, 0.3);
#endif
  const auto disk = static_cast<double>(size_of(run("out") / "checkpoints", ".safetensors"));
  EXPECT_NEAR(estimate.at("disk_bytes").get<double>() / disk, 1, 0.4);  // headers of small files
  EXPECT_GT(estimate.at("seconds"), 0);
}

TEST_F(ProgramTest, ADryRunSumsUpWhatIsLeftToDo) {
  ASSERT_EQ(shell(command("out", "--seeds 1")).code, 0);
  const auto output = output_of(shell(command("out", "--seeds 1,2 --dry-run")));
  EXPECT_TRUE(says(output, "copy/base/seed-1  finished"));
  EXPECT_TRUE(says(output, "copy/base/seed-2  new"));
  EXPECT_TRUE(says(output, "\n1 runs to do: "));
}

TEST_F(ProgramTest, ADryRunOfAdaptersTimesTheEvaluationOfTheMergedModel) {
  const auto output = output_of(
      shell(command("out", "--dry-run --json --set 'training.lora={rank: 2, on: [attention]}'")));
  const auto estimate = nlohmann::json::parse(output).at("estimate");
  EXPECT_LT(estimate.at("trained_parameters"), estimate.at("parameters"));
  EXPECT_GT(estimate.at("test_seconds"), 0);
}

TEST_F(ProgramTest, ADryRunCountsWhatTheOptimizerKeeps) {
  const auto disk_of = [&](const std::string& optimizer) {
    const auto output = output_of(shell(command(
        "out", "--dry-run --json --launcher print --set training.optimizer.kind=" + optimizer)));
    return nlohmann::json::parse(output).at("estimate").at("disk_bytes").get<double>();
  };
  const double adam = disk_of("adam");
  EXPECT_NEAR(disk_of("sgd") / adam, 2.0 / 3, 0.02);            // one tensor beside the weights
  EXPECT_NEAR(disk_of("schedule_free") / adam, 4.0 / 3, 0.02);  // three
  EXPECT_GT(disk_of("soap"), 1.8 * adam);                       // two pairs of bases more
}

TEST_F(ProgramTest, ADryRunForAClusterOrForRanksTimesNothing) {
  const std::string dry_run = "--set training.accumulate=2 --dry-run --json ";
  const auto timed = nlohmann::json::parse(shell(command("out", dry_run)).output);
  EXPECT_GT(timed.at("estimate").at("seconds"), 0);
  for (const std::string more : {"--launcher slurm", "--launcher print", "--ranks 2"}) {
    const auto counted = nlohmann::json::parse(shell(command("out", dry_run + more)).output);
    EXPECT_EQ(counted.at("estimate").at("seconds"), "NaN");
    EXPECT_EQ(counted.at("estimate").at("memory_bytes"), 0);
    for (const char* key :
         {"parameters", "active_parameters", "steps", "flops", "disk_bytes", "notes"})
      EXPECT_EQ(counted.at("estimate").at(key), timed.at("estimate").at(key)) << key;
  }
  EXPECT_TRUE(ends(shell(command("out", "--dry-run --launcher slurm")), 0, "Nothing was timed"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(ProgramTest, ADryRunThatIsStoppedLeavesNothing) {
  NamedPipe vectors(folder_ / "vectors.txt");
  const auto scratch = folder_ / "scratch";
  std::filesystem::create_directory(scratch);
  const pid_t process = start_process(
      "env TMPDIR=" + scratch.string() + " " +
      command("out", "--dry-run --set training.pretrained_embeddings.source=vectors.txt"));
  ASSERT_TRUE(vectors.has_reader());  // a process for the estimate is at work
  EXPECT_FALSE(std::filesystem::is_empty(scratch));
  kill(process, SIGTERM);
  EXPECT_EQ(end_of(process), 75);
  EXPECT_TRUE(std::filesystem::is_empty(scratch));
}

}  // namespace
}  // namespace ablate::schedule
