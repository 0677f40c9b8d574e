#include "data/word_vectors.h"

#include <bit>
#include <limits>

#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class WordVectorsTest : public FolderTestCase {
 protected:
  WordVectors read(const std::string& bytes, int64_t width = 3) {
    return read_word_vectors(write("vectors", bytes), {"cat", "dog", "New York"}, width);
  }
  std::string message(const std::string& bytes) {
    const auto text = message_of([&] { read(bytes); });
    return text.substr(text.find(": ") + 2);
  }
  /// A word2vec binary file; `line_ends` as the original program writes them, others do not.
  static std::string binary(const std::vector<std::pair<std::string, std::vector<float>>>& words,
                            bool line_ends) {
    std::string bytes = std::to_string(words.size()) + " 3\n";
    for (const auto& [word, vector] : words) {
      bytes += word + " ";
      for (const float x : vector) {
        const auto raw = std::bit_cast<uint32_t>(x);
        for (int i = 0; i < 4; ++i) bytes += static_cast<char>(raw >> (8 * i));
      }
      if (line_ends) bytes += "\n";
    }
    return bytes;
  }
};

const WordVectors kBoth = {{"cat", {0.5F, -1, 2e-3F}}, {"dog", {1, 2, 3}}};

TEST_F(WordVectorsTest, GloveLines) {
  EXPECT_EQ(read("cat 0.5 -1 2e-3\nfish 9 9 9\ndog 1 2 3"), kBoth);
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "cat 0.5 -1 2e-3\r\ndog 1 2 3\r\n"),
            kBoth);
}

TEST_F(WordVectorsTest, Word2vecText) {
  EXPECT_EQ(read("3 3\ncat 0.5 -1 2e-3 \nfish 9 9 9 \ndog 1 2 3 \n"), kBoth);
}

TEST_F(WordVectorsTest, Word2vecBinary) {
  for (const bool line_ends : {true, false})
    EXPECT_EQ(read(binary({{"cat", {0.5F, -1, 2e-3F}}, {"fish", {9, 9, 9}}, {"dog", {1, 2, 3}}},
                          line_ends)),
              kBoth);
}

TEST_F(WordVectorsTest, ABinaryVectorMayHoldTheBytesOfSpacesAndLineEnds) {
  const float spaces = std::bit_cast<float>(uint32_t{0x20202020});
  const float lines = std::bit_cast<float>(uint32_t{0x0a0a0a0a});
  const auto vectors = read(binary({{"cat", {spaces, lines, spaces}}, {"dog", {1, 2, 3}}}, true));
  EXPECT_EQ(vectors.at("cat"), (std::vector<float>{spaces, lines, spaces}));
  EXPECT_EQ(vectors.at("dog"), (std::vector<float>{1, 2, 3}));
}

TEST_F(WordVectorsTest, AGzipFileIsUnpacked) {
  const std::string text = "cat 0.5 -1 2e-3\ndog 1 2 3\n";
  EXPECT_EQ(read_word_vectors(write_gzip("vectors", text), {"cat", "dog"}, 3), kBoth);
}

TEST_F(WordVectorsTest, AWordMayHoldSpaces) {
  EXPECT_EQ(read("cat 1 2 3\nNew York 4 5 6\n").at("New York"), (std::vector<float>{4, 5, 6}));
}

TEST_F(WordVectorsTest, TheFirstOfTwoVectorsCounts) {
  EXPECT_EQ(read("cat 1 2 3\ncat 4 5 6\n").at("cat"), (std::vector<float>{1, 2, 3}));
}

TEST_F(WordVectorsTest, LongLinesComeInSeveralReads) {
  std::string text = "2 20000\n";
  for (const char* word : {"cat", "dog"}) {
    text += word;
    for (int i = 0; i < 20'000; ++i) text += " 0.25";
    text += "\n";
  }
  EXPECT_EQ(read(text, 20'000).at("dog"), std::vector<float>(20'000, 0.25F));
}

TEST_F(WordVectorsTest, EveryFaultSaysWhereAndWhat) {
  EXPECT_EQ(message(""), "the file is empty");
  EXPECT_EQ(message("cat 1 2\n"), "its vectors are 2 numbers wide, and model.d_model is 3");
  EXPECT_EQ(message("7 300\n"), "its vectors are 300 numbers wide, and model.d_model is 3");
  EXPECT_EQ(message("cat 1 2 3\ndog 1 2\n"),
            "line 2: has 3 fields; a word and 3 numbers belong there");
  EXPECT_EQ(message("fish 1 2 3\ndog 1 b 3\n"), "line 2: 'b' is no number");
  EXPECT_EQ(message("cat 1 inf 3\n"), "line 1: the vector of 'cat' is not finite");
  EXPECT_EQ(message("2 3\ncat 1 2 3\n"), "line 1: promises 2 words, and 1 follow");
  EXPECT_EQ(message("1 3\ncat 1 2 3\n\ndog 1 2 3\n"), "line 1: promises 1 words, and more follow");
  EXPECT_EQ(message("1" + binary({{"cat", {1, 2, 3}}, {"dog", {1, 2, 3}}}, true).substr(1)),
            "line 1: promises 1 words, and more follow");
  EXPECT_EQ(message("2 3\ncat 0.123456789 0.123456789\ndog 0.123456789 0.123456789\n"),
            "line 2: has 3 fields; a word and 3 numbers belong there");
  EXPECT_EQ(message("2 3\ncat 0,12 0,34 0,56\ndog 0,12 0,34 0,56\n"),
            "line 2: '0,12' is no number");
  const auto whole = binary({{"cat", {1, 2, 3}}, {"dog", {4, 5, 6}}}, false);
  EXPECT_EQ(message(whole.substr(0, whole.size() - 3)), "word 2 of 2: the file ends within it");
  EXPECT_EQ(message(whole.substr(0, whole.size() - 16)), "word 2 of 2: the file ends before it");
}

}  // namespace
}  // namespace ablate::data
