#include "training/storage/durable_file.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "tests/says.h"
#include "tests/training/folder_test_case.h"
#include "tests/training/storage/file_size_limit.h"

namespace ablate::training {
namespace {

class DurableFile : public FolderTestCase {
 protected:
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder()), {}));
  }
  std::filesystem::path path() const { return folder() / "results.json"; }
};

TEST_F(DurableFile, HoldsTheBytes) {
  const std::string bytes("a\0b\n", 4);
  write_durably(path(), bytes);
  EXPECT_EQ(read_bytes(path()), bytes);
  write_durably(path(), "");
  EXPECT_EQ(read_bytes(path()), "");
  EXPECT_EQ(files(), 1U);
}

TEST_F(DurableFile, FailedWriteKeepsTheOldBytesAndLeavesNothing) {
  write_durably(path(), "old");
  EXPECT_TRUE(says(refusal_of<IoError>([&] {
                     const FileSizeLimit limit(1000);
                     write_durably(path(), std::string(5000, 'x'));
                   }),
                   "File too large; the limit on file sizes"));
  EXPECT_EQ(read_bytes(path()), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(DurableFile, AWriteThatSignalsInterruptIsWholeAllTheSame) {
  struct sigaction ours {
  }, before{};
  ours.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(sigaction(SIGUSR1, &ours, &before), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // holds fewer bytes, and cannot be synced
  std::string bytes;
  while (bytes.size() < 1'000'000) bytes += std::to_string(bytes.size()) + " ";
  std::thread writer([&] { File(ends[1], "pipe").write_and_sync(bytes); });
  std::string found;
  std::array<char, 10'000> part{};
  for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;) {
    found.append(part.data(), static_cast<size_t>(got));
    pthread_kill(writer.native_handle(), SIGUSR1);
  }
  writer.join();
  close(ends[0]);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(found, bytes);
}

TEST_F(DurableFile, TemporaryNamesAreNeverTheSame) {
  EXPECT_NE(temporary_beside(path()), temporary_beside(path()));
  EXPECT_EQ(temporary_beside(path()).parent_path(), folder());
}

TEST_F(DurableFile, WhatAnotherProcessOfTheSameNumberWritesIsLeftAlone) {
  // Another host or pid namespace may have a process of our number.
  const auto other = folder() / (".tmp-results.json-" + std::to_string(getpid()));
  write_synced(other, "half");
  write_durably(path(), "whole");
  EXPECT_EQ(read_bytes(other), "half");
  EXPECT_EQ(read_bytes(path()), "whole");
}

TEST_F(DurableFile, WhatAProcessOfThisHostBeganAndDidNotFinishIsRemoved) {
  write_synced(temporary_beside(path()), "half");
  const auto foreign = folder() / ".tmp-another-host@results.json-0123456789abcdef";
  write_synced(foreign, "half");
  std::filesystem::create_directory(temporary_beside(path()));
  write_durably(path(), "whole");
  remove_leftover_files(folder());
  EXPECT_EQ(files(), 3U);
  EXPECT_EQ(read_bytes(foreign), "half");
  EXPECT_EQ(read_bytes(path()), "whole");
}

TEST_F(DurableFile, WhatIsBeingWrittenIsNoLeftover) {
  std::atomic<bool> written = false;
  std::thread other([&] {
    while (!written) remove_leftover_files(folder());
  });
  for (int i = 0; i < 200; ++i) EXPECT_NO_THROW(write_durably(path(), std::string(1 << 20, 'x')));
  written = true;
  other.join();
  EXPECT_EQ(files(), 1U);
}

TEST_F(DurableFile, CannotReplaceAFolder) {
  std::filesystem::create_directory(path());
  EXPECT_THROW(write_durably(path(), "x"), IoError);
  EXPECT_EQ(files(), 1U);
}

TEST_F(DurableFile, MissingFolderIsAnErrorWithPathAndReason) {
  try {
    write_durably(folder() / "none" / "file", "x");
    FAIL();
  } catch (const IoError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("cannot create '" + folder().string() + "/none/")) << what;
    EXPECT_TRUE(what.ends_with(": No such file or directory")) << what;
  }
}

TEST_F(DurableFile, SyncedWriteNeverReplaces) {
  write_synced(path(), "one");
  EXPECT_THROW(write_synced(path(), "two"), IoError);
  EXPECT_EQ(read_bytes(path()), "one");
}

TEST_F(DurableFile, FullDeviceIsAnErrorWithARemedy) {
  EXPECT_STREQ(io_error("write", "/a b", ENOSPC).what(),
               "cannot write '/a b': No space left on device; free some space and run the same "
               "command again");
  EXPECT_THROW(io_error("remove", "/a", ENOMEM), std::bad_alloc);
  EXPECT_STREQ(io_error("create", "/a", EACCES).what(),
               "cannot create '/a': Permission denied; make it writable or choose another folder");
}

TEST_F(DurableFile, AFolderThatCannotBeMadeIsNamed) {
  create_folder(folder() / "a" / "b");
  EXPECT_TRUE(std::filesystem::is_directory(folder() / "a" / "b"));
  write_synced(path(), "");
  EXPECT_EQ(refusal_of<IoError>([&] { create_folder(path() / "below"); }),
            "cannot create '" + (path() / "below").string() + "': Not a directory");
}

TEST_F(DurableFile, ReadingAFolderIsAnError) { EXPECT_THROW(read_bytes(folder()), IoError); }

}  // namespace
}  // namespace ablate::training
