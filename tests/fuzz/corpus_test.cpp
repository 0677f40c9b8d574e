#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "training/storage/durable_file.h"

#define READER(name)                 \
  namespace ablate::fuzz {           \
  void name(std::string_view bytes); \
  }
#include "readers.inc"
#undef READER

namespace ablate::fuzz {
namespace {

struct Reader {
  std::string name;
  void (*read)(std::string_view bytes);
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> kReaders = {
#define READER(name) {#name, name},
#include "readers.inc"
#undef READER
  };
  return kReaders;
}

std::filesystem::path corpus() {
  return std::filesystem::path(ABLATE_SOURCE) / "tests/fuzz/corpus";
}

class Corpus : public testing::TestWithParam<Reader> {};

/// Any other error than those that the reader declares ends the test's process.
TEST_P(Corpus, IsReadOrRefused) {
  int64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus() / GetParam().name)) {
    SCOPED_TRACE(entry.path());
    GetParam().read(training::read_bytes(entry.path()));
    ++files;
  }
  EXPECT_GT(files, 0);
}

INSTANTIATE_TEST_SUITE_P(Readers, Corpus, testing::ValuesIn(readers()),
                         [](const auto& one) { return one.param.name; });

TEST(Corpora, HaveAReaderEach) {
  for (const auto& entry : std::filesystem::directory_iterator(corpus()))
    EXPECT_NE(std::ranges::find(readers(), entry.path().filename().string(), &Reader::name),
              readers().end())
        << entry.path();
}

}  // namespace
}  // namespace ablate::fuzz
