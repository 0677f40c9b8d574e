#include <gtest/gtest.h>

#include "tests/experiments/program.h"

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
  const auto done = shell("cd " + folder_.string() + " && PATH=" + (folder_ / "bin").string() +
                          ":$PATH " + kProgram + " " + words + " 2>&1");
  ASSERT_EQ(done.code, 0) << done.output;
  const auto script = read_file(folder_ / "out/tiny/launch/wave-1/close.sh");
  const auto command = script.substr(script.find("' 'run'") + 2);
  EXPECT_EQ(command,
            "'run' 'tiny.yaml' '--output' 'out' '--launcher' 'slurm' '--set' "
            "'training.steps=3' '--arms' 'base' '--retries' '2' '--grace' '60' '--json' "
            "'--slurm' '--partition=a b'\n");
  EXPECT_NE(script.find("cd '" + std::filesystem::canonical(folder_).string() + "'"),
            std::string::npos)
      << script;
}

}  // namespace
}  // namespace ablate::commands
