#include "experiments/records/environment.h"

#include "tests/training/folder_test_case.h"
#include "training/storage/checkpoint_error.h"
#include "training/storage/durable_file.h"

namespace ablate::records {
namespace {

class Environment : public training::FolderTestCase {
 protected:
  std::string data_folder(const std::string& text) const {
    training::write_durably(RunFolder(folder()).environment(), text);
    return data_folder_of(folder(), "").string();
  }
};

TEST_F(Environment, SaysWhereDataIsUnlessTheCallDoes) {
  EXPECT_EQ(data_folder_of(folder(), ""), ".");
  EXPECT_EQ(data_folder(R"({"data_folder": "/data"})"), "/data");
  EXPECT_EQ(data_folder("{}"), ".");
  EXPECT_EQ(data_folder_of(folder(), "here"), "here");
}

TEST_F(Environment, ADataFolderThatIsNoTextIsDamage) {
  for (const char* text : {R"({"data_folder": 5})", R"({"data_folder": null})", "[]"})
    EXPECT_THROW(data_folder(text), training::CheckpointError) << text;
}

}  // namespace
}  // namespace ablate::records
