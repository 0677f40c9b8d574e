#include "experiments/records/run_start.h"

#include "tests/training/folder_test_case.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

class Environment : public training::FolderTestCase {
 protected:
  std::string data_folder(const nlohmann::json& environment) const {
    training::write_durably(RunFolder(folder()).environment(), training::sealed_json(environment));
    return data_folder_of(folder(), "").string();
  }
};

TEST_F(Environment, SaysWhereDataIsUnlessTheCallDoes) {
  EXPECT_EQ(data_folder_of(folder(), ""), ".");
  EXPECT_EQ(data_folder({{"data_folder", "/data"}}), "/data");
  EXPECT_EQ(data_folder(nlohmann::json::object()), ".");
  EXPECT_EQ(data_folder_of(folder(), "here"), "here");
}

TEST_F(Environment, ADataFolderThatIsNoTextIsDamage) {
  EXPECT_THROW(data_folder({{"data_folder", 5}}), training::CheckpointError);
  EXPECT_THROW(data_folder({{"data_folder", nullptr}}), training::CheckpointError);
}

using InitialWeightsFile = training::FolderTestCase;

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
