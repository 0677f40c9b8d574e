#include "experiments/records/run_start.h"
#include "tests/training/folder_test_case.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"

namespace ablate::records {
namespace {

class InitialWeightsFile : public training::FolderTestCase {};

TEST_F(InitialWeightsFile, StaysInTheRunFolderAndWhatHoldsNoWholeNumbersIsDamaged) {
  const RunFolder run(folder());
  EXPECT_TRUE(read_initial_weights(run).empty());
  write_initial_weights(run, {{"ab", 3}});
  EXPECT_EQ(read_initial_weights(run), (InitialWeights{{"ab", 3}}));
  for (const char* text : {R"({"ab": "3"})", R"({"ab": 1.5})", R"({"ab": []})", "{"}) {
    training::write_durably(run.initial_weights(), text);
    EXPECT_THROW(read_initial_weights(run), training::CheckpointError) << text;
  }
}

}  // namespace
}  // namespace ablate::records
