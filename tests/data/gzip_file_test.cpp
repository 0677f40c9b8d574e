#include "data/gzip_file.h"

#include <array>

#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class GzipFileTest : public FolderTestCase {
 protected:
  std::filesystem::path archive(const std::string& text) { return write_gzip("text.gz", text); }
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

}  // namespace
}  // namespace ablate::data
