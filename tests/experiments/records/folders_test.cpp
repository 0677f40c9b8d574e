#include "experiments/records/folders.h"

#include <gtest/gtest.h>

namespace ablate::records {
namespace {

TEST(RunFolder, LiesWhereItsLabelSaysWhateverTheStudysFolderIsCalled) {
  const config::RunSpecification run{.task = "copy", .arm = "wide", .seed = 7};
  EXPECT_EQ(label(run), "copy/wide/seed-7");
  EXPECT_EQ(study_folder("runs", "tiny").run(run).path, "runs/tiny/copy/wide/seed-7");
  EXPECT_EQ(StudyFolder("elsewhere/renamed").run(run).result(),
            "elsewhere/renamed/copy/wide/seed-7/result.json");
}

TEST(RunFolder, OfAnotherArmHasTheSameTaskAndSeed) {
  EXPECT_EQ(RunFolder("s/copy/wide/seed-7").of_arm("base").path, "s/copy/base/seed-7");
}

TEST(RunFolder, NamesFilesOfATestSetWithoutBlanks) {
  const RunFolder run("r");
  EXPECT_EQ(run.outputs("length 12"), "r/output-length-12.txt");
  EXPECT_EQ(run.references("length 12"), "r/reference-length-12.txt");
  EXPECT_EQ(run.sources("length 12"), "r/source-length-12.txt");
}

}  // namespace
}  // namespace ablate::records
