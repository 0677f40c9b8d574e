#include "data/gzip_file.h"

#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class GzipFileTest : public FolderTestCase {
 protected:
  std::filesystem::path archive(const std::string& text) { return write_gzip("text.gz", text); }
  static std::string read_bytes(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// What reading the file to its end says.
  std::string message(const std::filesystem::path& file) {
    return message_of([&] {
      GzipFile stream(file);
      std::array<char, 4096> buffer{};
      while (stream.read(buffer) > 0) {
      }
    });
  }
};

TEST_F(GzipFileTest, MadeToFillTheMemoryIsRefused) {
  const std::string refused =
      "text.gz: the gzip archive unpacks to more than 200 times its size; unpack it if it is text "
      "nevertheless";
  EXPECT_EQ(message(archive(std::string(8U << 20U, '\n'))), refused);
  EXPECT_EQ(message(archive(std::string(8U << 20U, 'x'))), refused);
}

TEST_F(GzipFileTest, OfRepeatedTextIsRead) {
  std::string text;
  for (int i = 0; text.size() < 8U << 20U; ++i) text += "line " + std::to_string(i % 1'000) + "\n";
  EXPECT_EQ(message(archive(text)), "no error");
}

TEST_F(GzipFileTest, CutAnywhereIsRefused) {
  const auto whole = archive("one\ntwo\nthree\n");
  for (auto size = std::filesystem::file_size(whole) - 1; size > 2; --size) {
    std::filesystem::resize_file(whole, size);
    EXPECT_EQ(message(whole), "text.gz: the gzip archive is damaged or cut off") << size;
  }
}

TEST_F(GzipFileTest, WhereAFolderStandsIsNamed) {
  std::filesystem::create_directory(folder_ / "inner");
  EXPECT_EQ(message(folder_ / "inner"), "inner: is a folder; name a file");
}

TEST_F(GzipFileTest, OfSeveralArchivesIsOneText) {
  const auto first = read_bytes(archive("one\ntw")), second = read_bytes(archive("o\n"));
  GzipFile stream(write("both.gz", first + second + std::string(512, '\0')));
  std::string text;
  std::array<char, 3> buffer{};
  while (const size_t got = stream.read(buffer)) text.append(buffer.data(), got);
  EXPECT_EQ(text, "one\ntwo\n");
}

TEST_F(GzipFileTest, PackedInAnotherWayOrTwiceIsNamed) {
  EXPECT_EQ(message(write_gzip("twice.gz", read_bytes(archive("text\n")))),
            "twice.gz: is a gzip archive in a gzip archive; unpack it once");
  EXPECT_EQ(message(write("a.bz2", "BZh91AY&SY\x01")),
            "a.bz2: is packed by bzip2; unpack it with bunzip2");
  EXPECT_EQ(message(write("a.xz", std::string("\xfd\x37zXZ\0\0", 7))),
            "a.xz: is packed by xz; unpack it with unxz");
  EXPECT_EQ(message(write("a.zst", "\x28\xb5\x2f\xfd\x01")),
            "a.zst: is packed by zstd; unpack it with unzstd");
  EXPECT_EQ(message(write_gzip("a.zip.gz", "PK\x03\x04")),
            "a.zip.gz: is a zip archive; unpack it with unzip");
  EXPECT_EQ(message(write("wide", "\xff\xfe\x01")),
            "wide: is UTF-16; convert it with iconv -f UTF-16 -t UTF-8");
}

TEST_F(GzipFileTest, WhereANamedPipeStandsWaitsForItsWriterButNotForEver) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message(pipe),
            "pipe: is a named pipe without a writer; start the program that writes to it, or name "
            "a file");
  std::thread writer([&] { std::ofstream(pipe) << "text\n"; });
  GzipFile stream(pipe);
  std::array<char, 64> buffer{};
  EXPECT_EQ(std::string(buffer.data(), stream.read(buffer)), "text\n");
  EXPECT_EQ(stream.read(buffer), 0U);
  writer.join();
}

}  // namespace
}  // namespace ablate::data
