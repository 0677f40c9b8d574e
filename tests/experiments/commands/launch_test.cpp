#include <gtest/gtest.h>

#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

/// With commands of Slurm that answer and do nothing.
class LaunchTest : public ProgramTest {
 protected:
  LaunchTest() {
    std::filesystem::create_directories(folder_ / "bin");
    tool("sbatch", "echo 7");
    tool("squeue", "exit 0");
    tool("scontrol", "echo MaxArraySize = 1001");
  }
  /// `ablate run tiny.yaml` in the folder, with these words.
  Outcome launch(const std::string& words) const {
    return in_folder(kProgram + " run tiny.yaml --output out " + words + " 2>&1");
  }
  Outcome in_folder(const std::string& command) const {
    return shell("cd " + folder_.string() + " && PATH=" + (folder_ / "bin").string() + ":$PATH " +
                 command);
  }
  void tool(const std::string& name, const std::string& script) const {
    const auto file = folder_ / "bin" / name;
    write_file(file, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
};

TEST_F(LaunchTest, TheJobThatClosesAWaveRepeatsTheWholeCommandInItsFolder) {
  const std::string words =
      "run tiny.yaml --output out --launcher slurm --set training.steps=3 --arms base "
      "--retries 2 --grace 60 --json --slurm '--partition=a b'";
  ASSERT_TRUE(ends(in_folder(kProgram + " " + words + " 2>&1"), 0));
  const auto script = read_file(folder_ / "out/tiny/launch/wave-1/close.sh");
  const auto command = script.substr(script.find("' 'run'") + 2);
  EXPECT_EQ(command,
            "'run' 'tiny.yaml' '--output' 'out' '--launcher' 'slurm' '--set' "
            "'training.steps=3' '--arms' 'base' '--retries' '2' '--grace' '60' '--json' "
            "'--slurm' '--partition=a b'\n");
  EXPECT_TRUE(says(script, "cd '" + std::filesystem::canonical(folder_).string() + "'"));
}

TEST_F(LaunchTest, TheLinesOfAPrologueRunBeforeTheProgramInEveryJob) {
  tool("srun", "while case $1 in --*) true;; *) false;; esac; do shift; done; exec \"$@\"");
  write_file(folder_ / "before.sh",
             "set -e  # of the prologue alone\necho prepared {braces} >> log\n"
             "container=(sh -c 'echo contained >> log; exec \"$@\"' sh)");
  ASSERT_EQ(launch("--launcher slurm --prologue before.sh").code, 0);
  const auto wave = folder_ / "out/tiny/launch/wave-1";
  EXPECT_TRUE(ends(in_folder("SLURM_JOB_ID=7 SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=0 bash " +
                             (wave / "job.sh").string() + " 0 2>&1"),
                   0));
  EXPECT_EQ(read_file(folder_ / "log"), "prepared {braces}\ncontained\n");
  EXPECT_TRUE(std::filesystem::exists(run("out") / "result.json"));
  EXPECT_TRUE(ends(in_folder("bash " + (wave / "close.sh").string() + " 2>&1"), 0));
  EXPECT_EQ(read_file(folder_ / "log"), "prepared {braces}\ncontained\nprepared {braces}\n");
}

}  // namespace
}  // namespace ablate::commands
