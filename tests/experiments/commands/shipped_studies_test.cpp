#include "tests/experiments/program.h"

namespace ablate::commands {
namespace {

TEST_F(ProgramTest, AnInstalledProgramListsItsOwnStudiesAndNotThoseOfTheWorkingFolder) {
  const auto installed = folder_ / "prefix/share/ablate/experiments/studies";
  for (const auto& studies : {installed, folder_ / "experiments/studies"}) {
    std::filesystem::create_directories(studies);
    std::filesystem::copy(study(), studies / "whole.yaml");
  }
  const auto program = folder_ / "prefix/bin/ablate";
  std::filesystem::create_directory(program.parent_path());
  std::filesystem::copy(kProgram, program);
  const auto outcome =
      shell("cd " + folder_.string() + " && " + program.string() + " run --list 2>&1");
  EXPECT_EQ(outcome.output, (installed / "whole.yaml").string() + "\t\t\n");
}

}  // namespace
}  // namespace ablate::commands
