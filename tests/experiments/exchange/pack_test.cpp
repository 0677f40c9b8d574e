#include "experiments/exchange/pack.h"

#include <caffe2/serialize/inline_container.h>

#include "experiments/exchange/format/seal.h"
#include "tests/experiments/program.h"
#include "tests/says.h"
#include "training/storage/errors.h"

namespace ablate::exchange {
namespace {

class Pack : public ProgramTest {
 protected:
  std::string ran() const { return (folder_ / "out/tiny").string(); }
  std::string file() const { return (folder_ / "tiny.zip").string(); }
  /// The study's folder, unzipped by another program.
  std::filesystem::path unzipped() const {
    EXPECT_EQ(shell("cd " + folder_.string() + " && python3 -m zipfile -e tiny.zip unzipped").code,
              0);
    return folder_ / "unzipped/tiny";
  }
  /// Writes a file of records with these names.
  void write_records(const std::vector<const char*>& names) const {
    caffe2::serialize::PyTorchStreamWriter writer(file());
    for (const auto* name : names) writer.writeRecord(name, "x", 1);
    writer.writeEndOfFile();
  }
};

TEST_F(Pack, HoldsWhatReportAndStatusReadAndNoCheckpoint) {
  given_runs("out");
  const auto report = program("report", ran());
  ASSERT_EQ(program("pack", ran(), "--to", file()).code, 0);
  EXPECT_TRUE(is_pack(file()));
  EXPECT_FALSE(is_pack(study()));
  const auto again = folder_ / "again";
  EXPECT_EQ(program("report", file(), "--to", again), (Outcome{0, report.output}));
  EXPECT_EQ(read_file(records::StudyFolder(again).csv()),
            read_file(records::StudyFolder(ran()).csv()));
  EXPECT_TRUE(says(program("status", file()).output, "1 finished"));
  unpack(file(), folder_ / "unpacked");
  bool results = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "unpacked")) {
    EXPECT_NE(entry.path().filename(), "checkpoints");
    results = results || entry.path().filename() == records::kResultFile;
  }
  EXPECT_TRUE(results);
}

TEST_F(Pack, LiesBelowAFolderOfTheStudysNameAndCanBeMadeOfAnUnzippedOne) {
  append("compare: {baseline: base, metric: exact_match}\n");
  ASSERT_EQ(shell(command("out", "--seeds 1 --set training.steps=2")).code, 0);
  ASSERT_EQ(program("pack", ran(), "--to", file()).code, 0);
  const auto folder = unzipped();
  EXPECT_EQ(read_file(folder / "study.yaml"), read_file(study()));
  const auto again = folder_ / "again.zip";
  EXPECT_TRUE(ends(program("pack", folder, "--to", again), 0));
  EXPECT_EQ(program("status", again).code, 0);
  const auto power = program("power", again, "--difference -1 2>&1");
  EXPECT_TRUE(says(power.output, "--difference: must be above 0, not -1"));
}

TEST_F(Pack, HoldsEqualFilesOnce) {
  given_runs("out", "--set training.steps=2");
  const auto large = std::string(100'000, 'x') + "y";
  const auto twin = records::StudyFolder(ran()).path / "copy/base/twin";
  std::filesystem::create_directories(twin);
  for (const auto* name : {"first.txt", "second.txt"}) write_file(twin / name, large);
  pack(records::StudyFolder(ran()), file());
  caffe2::serialize::PyTorchStreamReader reader(file());
  EXPECT_TRUE(reader.hasRecord("copy/base/twin/first.txt"));
  EXPECT_FALSE(reader.hasRecord("copy/base/twin/second.txt"));
  unpack(file(), folder_ / "unpacked");
  EXPECT_EQ(read_file(folder_ / "unpacked/copy/base/twin/second.txt"), large);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "unpacked/equal_files.json"));
  const auto again = folder_ / "again.zip";
  pack(records::StudyFolder(unzipped()), again);
  unpack(again, folder_ / "once_more");
  EXPECT_EQ(read_file(folder_ / "once_more/copy/base/twin/second.txt"), large);
}

TEST_F(Pack, UnzippedIsReportedAsTheFolderThatWasPacked) {
  given_runs("out", "--seeds 1,2 --set training.steps=2");
  ASSERT_EQ(program("report", ran()).code, 0);
  ASSERT_EQ(program("pack", ran(), "--to", file()).code, 0);
  const auto folder = unzipped();
  const auto second = folder / "copy/base/seed-2";
  EXPECT_FALSE(std::filesystem::exists(second / "config.yaml")) << "it equals the first seed's";
  ASSERT_EQ(program("report", folder).code, 0);
  EXPECT_EQ(read_file(folder / "results.json"), read_file(ran() + "/results.json"));
  EXPECT_EQ(read_file(second / "config.yaml"), read_file(ran() + "/copy/base/seed-2/config.yaml"));
  EXPECT_FALSE(std::filesystem::exists(folder / "equal_files.json"));
}

TEST_F(Pack, FilesThatAreNoneAreNamedInPlainWords) {
  const auto message = [&](const std::string& bytes) -> std::string {
    write_file(file(), bytes);
    return refusal_of<training::CheckpointError>([&] { unpack(file(), folder_ / "unpacked"); });
  };
  const auto none =
      file() + " is no packed study (it has no study.yaml); make one with `ablate pack`";
  EXPECT_EQ(message(""), none);
  EXPECT_EQ(message("name: tiny\n"), none);
  write_records({"data.pkl"});
  EXPECT_EQ(message(read_file(file())), none);
  std::filesystem::create_directories(folder_ / "s");
  write_file(folder_ / "s/study.yaml", std::string(1000, 'x'));
  pack(folder_ / "s", file());
  const auto whole = read_file(file());
  EXPECT_EQ(message(whole), "");
  EXPECT_EQ(message(whole.substr(0, whole.size() / 2)),
            file() + " is damaged; make it again with `ablate pack`");
  auto changed = whole;
  changed[changed.size() / 3] ^= 1;
  EXPECT_EQ(message(changed),
            file() + " is damaged, or was not made by `ablate pack`; make it again with that");
}

TEST_F(Pack, IsRefusedIfItNamesFilesElsewhere) {
  write_records({"study.yaml", "../escaped"});
  write_file(file(), sealed(read_file(file())));
  EXPECT_THROW(unpack(file(), folder_ / "below/unpacked"), training::CheckpointError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "below/escaped"));
}

}  // namespace
}  // namespace ablate::exchange
