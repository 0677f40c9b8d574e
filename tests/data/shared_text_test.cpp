#include "data/shared_text.h"

#include <regex>

#include "data/random.h"
#include "data/token_file.h"
#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class SharedText : public FolderTestCase {
 protected:
  /// A text of its own for each seed.
  static std::vector<std::string> lines(int seed, int count = 100) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i)
      all.push_back("line " + std::to_string(seed) + " of " + std::to_string(i * i));
    return all;
  }
  static std::string joined(const std::vector<std::string>& lines, const std::string& end = "\n") {
    std::string text;
    for (const auto& line : lines) text += line + end;
    return text;
  }
  static std::string raw(int64_t first, int64_t count, size_t width) {
    std::string bytes;
    for (int64_t i = first; i < first + count; ++i) {
      const auto id = Random(static_cast<uint64_t>(i)).next() % 40'000;
      for (size_t byte = 0; byte < width; ++byte) bytes += static_cast<char>(id >> (8 * byte));
    }
    return bytes;
  }
  bool shares(const DataOptions& options) {
    return test_in_validation(load(options, folder_, 1), options).has_value();
  }
  bool shares_lines(const std::string& validation, const std::string& test) {
    write("train", joined(lines(9)));
    write("validation", validation);
    write("test", test);
    return shares(Language{.train = "train", .validation = "validation", .test = "test"});
  }
  bool shares_tokens(const std::string& validation, const std::string& test) {
    write("validation.bin", validation);
    write("test.bin", test);
    return shares(Tokens{.train = "validation.bin",
                         .validation = "validation.bin",
                         .test = "test.bin",
                         .vocabulary = 65'536});
  }
};

TEST_F(SharedText, OfLinesIsFoundInAnyOrderForm) {
  const auto text = lines(1);
  EXPECT_TRUE(shares_lines(joined(text), joined(text)));
  EXPECT_TRUE(shares_lines(joined(text), joined(text, "\r\n")));
  EXPECT_TRUE(shares_lines(joined(text), joined({text.rbegin(), text.rend()}, "\n\n")));
  EXPECT_TRUE(shares_lines(joined(text), joined(text) + joined(lines(2, 1000)))) << "a part";
  EXPECT_TRUE(shares_lines(joined(text) + joined(lines(2, 1000)), joined(text)));
  EXPECT_FALSE(shares_lines(joined(text), joined(lines(2))));
  EXPECT_FALSE(shares_lines(joined(text), joined(lines(1, 30)) + joined(lines(2)))) << "some lines";
  EXPECT_FALSE(shares_lines("a\n\n\nb\nc\n", "d\n\n\n\ne\nf\n")) << "empty lines count as none";
}

TEST_F(SharedText, OfLinesIsFoundWhateverSpacesAndLineEndsAreBetweenTheWords) {
  const auto text = joined(lines(1));
  EXPECT_TRUE(shares_lines(text, joined(lines(1), " \n")));
  EXPECT_TRUE(shares_lines(text, std::regex_replace(text, std::regex(" "), "  ")));
  EXPECT_TRUE(shares_lines(text, std::regex_replace(text, std::regex("[ \n]"), "\n")));
  EXPECT_TRUE(shares_lines(text, std::regex_replace(text, std::regex("of "), "of\n")));
  EXPECT_FALSE(shares_lines(text, joined(lines(2), " \n")));
}

TEST_F(SharedText, OfTokensIsFoundInAnyTypeAndPlace) {
  const auto text = raw(0, 5000, 2);
  EXPECT_TRUE(shares_tokens(text, text));
  EXPECT_TRUE(shares_tokens(text, token_header(TokenType::uint16, 5000) + text));
  EXPECT_TRUE(shares_tokens(text, token_header(TokenType::uint32, 5000) + raw(0, 5000, 4)));
  EXPECT_TRUE(shares_tokens(text, raw(1777, 900, 2))) << "a part";
  EXPECT_TRUE(shares_tokens(raw(1777, 900, 2), text));
  EXPECT_TRUE(shares_tokens(raw(0, 200'000, 2), raw(50'001, 149'000, 2))) << "few are compared";
  EXPECT_FALSE(shares_tokens(text, raw(5000, 5000, 2)));
  EXPECT_FALSE(shares_tokens(raw(0, 200'000, 2), raw(200'000, 200'000, 2)));
  EXPECT_TRUE(shares_tokens(raw(0, 5, 2), raw(0, 5, 2))) << "shorter than a run";
  EXPECT_FALSE(shares_tokens(raw(0, 5, 2), raw(5, 5, 2)));
}

TEST_F(SharedText, OfTokensIsThatWhichIsScored) {
  write("a.bin", raw(0, 500, 2) + raw(5000, 1500, 2));
  write("b.bin", raw(9000, 500, 2) + raw(5000, 1500, 2));
  Tokens tokens{.train = "a.bin", .validation = "a.bin", .test = "b.bin", .vocabulary = 65'536};
  EXPECT_TRUE(shares(tokens));
  tokens.evaluated_tokens = 500;
  EXPECT_FALSE(shares(tokens));
}

TEST_F(SharedText, OfPairsIsThatOfBothSides) {
  write("a.tsv", "one\teins\ntwo\tzwei\n");
  write("c.tsv", "one\tuno\ntwo\tdos\n");
  write_gzip("d.tsv.gz", "one\tuno\n");
  const auto pairs = [&](const std::string& validation, const std::string& test) {
    return shares(Text{.train = {"a.tsv"}, .validation = {validation}, .test = {test}});
  };
  EXPECT_TRUE(pairs("a.tsv", "../" + folder_.filename().string() + "/a.tsv"));
  EXPECT_FALSE(pairs("a.tsv", "c.tsv"));
  EXPECT_TRUE(pairs("c.tsv", "d.tsv.gz"));
}

TEST_F(SharedText, OfTasksIsAllOrNone) {
  EXPECT_TRUE(shares(Facts()));
  EXPECT_FALSE(shares(Reverse()));
  Capo told{.people = 20, .versions = 2};
  EXPECT_FALSE(shares(told));
  told.templates = 1;
  EXPECT_TRUE(shares(told)) << "with one way to say it, a biography is the same in every set";
}

}  // namespace
}  // namespace ablate::data
