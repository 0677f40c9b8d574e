#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>

#include "data/corpus.h"
#include "data/text_file.h"

namespace ablate::data {
namespace {

class Archive : public testing::Test {
 protected:
  Archive() {
    std::string pattern = testing::TempDir() + "ablate-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Archive() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path packed(const std::string& text) {
    const auto file = folder_ / "text.gz";
    gzFile stream = gzopen(file.c_str(), "wb");
    gzwrite(stream, text.data(), static_cast<unsigned>(text.size()));
    gzclose(stream);
    return file;
  }
  std::string message(const std::filesystem::path& file) {
    try {
      read_lines(file, 65'536);
    } catch (const DataError& error) {
      return std::string(error.what()).substr(folder_.string().size() + 1);
    }
    return "read";
  }

  std::filesystem::path folder_;
};

TEST_F(Archive, MadeToFillTheMemoryIsRefused) {
  const std::string refused =
      "text.gz: the gzip archive unpacks to more than 200 times its size; unpack it if it is text "
      "nevertheless";
  EXPECT_EQ(message(packed(std::string(8U << 20U, '\n'))), refused);
  EXPECT_EQ(message(packed(std::string(8U << 20U, 'x'))), refused);
}

TEST_F(Archive, OfRepeatedTextIsRead) {
  std::string text;
  for (int i = 0; text.size() < 8U << 20U; ++i) text += "line " + std::to_string(i % 1'000) + "\n";
  EXPECT_EQ(message(packed(text)), "read");
}

TEST_F(Archive, CutAnywhereIsRefused) {
  const auto whole = packed("one\ntwo\nthree\n");
  for (auto size = std::filesystem::file_size(whole) - 1; size > 2; --size) {
    std::filesystem::resize_file(whole, size);
    EXPECT_EQ(message(whole), "text.gz: the gzip archive is damaged or cut off") << size;
  }
}

TEST_F(Archive, WhereAFolderStandsIsNamed) {
  std::filesystem::create_directory(folder_ / "inner");
  EXPECT_EQ(message(folder_ / "inner"), "inner: is a folder; name a file");
}

}  // namespace
}  // namespace ablate::data
