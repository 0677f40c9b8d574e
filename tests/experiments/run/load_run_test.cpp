#include "experiments/run/load_run.h"

#include "experiments/errors.h"
#include "tests/experiments/program.h"

namespace ablate::run {
namespace {

class WriteFolderTest : public ProgramTest {
 protected:
  void write(const std::filesystem::path& folder) const {
    write_folder(folder, [](const auto& part) { write_file(part / "inside", "text"); });
  }
};

TEST_F(WriteFolderTest, ASlashAtTheEndOfItsNameChangesNothing) {
  write(folder_ / "new/plain");
  write(folder_ / "new/slash/");
  for (const auto* name : {"plain", "slash"})
    EXPECT_EQ(read_file(folder_ / "new" / name / "inside"), "text") << name;
  EXPECT_THROW(write(folder_ / "new/plain/"), UsageError);
}

TEST_F(WriteFolderTest, AFolderThatCannotBeFilledLeavesNothing) {
  const auto fail = [](const auto&) { throw std::runtime_error("full"); };
  EXPECT_THROW(write_folder(folder_ / "new/half", fail), std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "new"));
}

}  // namespace
}  // namespace ablate::run
