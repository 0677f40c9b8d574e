#include "training/storage/run_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "tests/says.h"
#include "tests/training/folder_test_case.h"
#include "tests/training/storage/file_size_limit.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

using Json = nlohmann::json;

/// As another process could, who has the file open.
void write_file_in_place(const std::filesystem::path& path, const std::string& bytes) {
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
}

class RunLogFile : public FolderTestCase {
 protected:
  std::filesystem::path path() const { return folder() / "metrics.jsonl"; }
  /// A log of these two records. Returns its mark between them.
  RunLog::Mark mark_between(const Json& first, const Json& second) const {
    RunLog log(path(), {});
    log.append(first);
    const auto mark = log.mark();
    log.append(second);
    return mark;
  }
};

TEST_F(RunLogFile, IsOneRecordALine) {
  RunLog log(path(), {});
  log.append({{"step", 1}, {"loss", 0.1}});
  log.append({{"text", "a\nb"}});
  EXPECT_EQ(read_bytes(path()), "{\"loss\":0.1,\"step\":1}\n{\"text\":\"a\\nb\"}\n");
  EXPECT_EQ(log.mark().bytes, std::filesystem::file_size(path()));
  EXPECT_EQ(read_run_log(path()),
            (std::vector<Json>{{{"loss", 0.1}, {"step", 1}}, {{"text", "a\nb"}}}));
}

TEST_F(RunLogFile, WritesNumbersThatAreNotFiniteAsStrings) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  RunLog(path(), {}).append({{"a", std::nan("")}, {"b", {kInfinity, -kInfinity}}});
  EXPECT_EQ(read_bytes(path()), "{\"a\":\"NaN\",\"b\":[\"Infinity\",\"-Infinity\"]}\n");
}

TEST_F(RunLogFile, WritesMalformedTextAsReplacementCharacters) {
  RunLog(path(), {}).append({{"name", "a\xff"}});
  EXPECT_EQ(read_run_log(path())[0]["name"], "a\ufffd");
}

TEST_F(RunLogFile, ResumedEqualsUninterrupted) {
  RunLog log(path(), mark_between({{"step", 1}}, {{"step", 2}, {"lost", true}}));
  log.append({{"step", 2}});
  EXPECT_EQ(read_bytes(path()), "{\"step\":1}\n{\"step\":2}\n");
}

TEST_F(RunLogFile, RefusesAnOffsetThatIsNotALinesEnd) {
  RunLog(path(), {}).append({{"step", 1}});
  EXPECT_THROW(RunLog(path(), {.bytes = 5}), CheckpointError);
  EXPECT_THROW(RunLog(path(), {.bytes = 12}), CheckpointError);
  EXPECT_EQ(read_run_log(path()).size(), 1U);
}

TEST_F(RunLogFile, RefusesALogThatDoesNotBeginAsItDid) {
  const auto saved = mark_between({{"loss", 1}}, {{"loss", 2}});
  auto bytes = read_bytes(path());
  bytes.replace(bytes.find('1'), 1, "3");
  write_durably(path(), bytes);
  EXPECT_THROW(RunLog(path(), saved), CheckpointError);
}

TEST_F(RunLogFile, AMarkIsOfWhatWasWrittenAndReadsNothingAgain) {
  RunLog log(path(), mark_between({{"loss", 1}}, {{"lost", true}}));
  log.append({{"loss", 2}});
  const auto whole = read_bytes(path());
  write_file_in_place(path(), std::string(whole.size(), ' '));
  EXPECT_EQ(log.mark().sha256, tokenizer::sha256(whole));
}

TEST_F(RunLogFile, ReaderDropsACutLastLine) {
  write_durably(path(), "{\"step\":1}\n{\"step\":2");
  EXPECT_EQ(read_run_log(path()), (std::vector<Json>{{{"step", 1}}}));
  write_durably(path(), "");
  EXPECT_TRUE(read_run_log(path()).empty());
}

TEST_F(RunLogFile, ReaderNamesAMalformedLine) {
  write_durably(path(), "{\"step\":1}\n{\"step\":\n{\"step\":3}\n");
  EXPECT_EQ(refusal_of<CheckpointError>([&] { read_run_log(path()); }),
            path().string() + ":2: not a JSON record");
}

TEST_F(RunLogFile, ReaderTakesObjectsAlone) {
  for (const char* line : {"5\n", "[]\n", "null\n"}) {
    write_durably(path(), line);
    EXPECT_THROW(read_run_log(path()), CheckpointError) << line;
  }
}

TEST_F(RunLogFile, FullDiskLeavesWholeLines) {
  RunLog log(path(), {});
  log.append({{"step", 1}});
  {
    const FileSizeLimit limit(15);
    EXPECT_THROW(log.append({{"step", 2}}), IoError);
  }
  EXPECT_EQ(read_bytes(path()), "{\"step\":1}\n");
  log.append({{"step", 2}});
  EXPECT_EQ(read_run_log(path()).size(), 2U);
}

TEST_F(RunLogFile, FullDeviceIsAnErrorWithPathAndReason) {
  std::filesystem::create_symlink("/dev/full", path());
  RunLog log(path(), {});
  EXPECT_EQ(refusal_of<IoError>([&] {
              log.append({{"step", 1}});
            }),
            "cannot write '" + path().string() +
                "': No space left on device; free some space and run the same "
                "command again");
  EXPECT_EQ(log.mark().bytes, 0U);
}

TEST_F(RunLogFile, MissingFolderIsAnIoError) {
  EXPECT_THROW(RunLog(folder() / "none" / "log", {}), IoError);
  EXPECT_THROW(read_run_log(path()), IoError);
}

}  // namespace
}  // namespace ablate::training
