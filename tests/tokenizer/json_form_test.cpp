#include "tokenizer/json_form.h"

#include <gtest/gtest.h>

#include "tests/says.h"
#include "tests/tokenizer/golden_files.h"
#include "tokenizer/foreign.h"
#include "tokenizer/huggingface/tokenizer_json.h"
#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {
namespace {

const std::vector<std::string> kLines = {"the cat sat on the mat",
                                         "a dog  and the cat's mat ",
                                         " the log",
                                         "",
                                         "   ",
                                         "der Hund saß auf dem Ast",
                                         "the \u2603 \u2603\u2603 cat",
                                         "ﬁne Ａ½",
                                         "x",
                                         "the\tcat",
                                         "中文 русский",
                                         "a\u0301 e\u0301tude",
                                         "cat\u00a0sat dogdog catcat"};

/// What PyPI's `tokenizers` does with the file is what TokenizerJson does (huggingface/golden).
void expect_same(const Tokenizer& tokenizer) {
  const huggingface::TokenizerJson json(to_tokenizer_json(tokenizer.file(), {}));
  for (const auto& line : kLines) {
    std::vector<int32_t> ids;
    for (const auto id : tokenizer.encode(line)) ids.push_back(*tokenizer.ids().theirs(id));
    EXPECT_EQ(json.encode(line), ids) << line;
    if (std::ranges::find(ids, *tokenizer.specials().unk) != ids.end()) continue;
    EXPECT_EQ(json.decode(ids), tokenizer.decode(tokenizer.encode(line))) << line;
  }
}

TEST(JsonForm, OfEveryKindThatIsTrainedHereHasTheSameIdsAndTexts) {
  for (const auto kind : {Kind::bpe, Kind::unigram, Kind::character, Kind::byte})
    for (const auto normalization : {Normalization::nmt_nfkc, Normalization::identity})
      for (const auto spaces : {Spaces::tidy, Spaces::exact}) {
        SCOPED_TRACE(static_cast<int>(kind) * 10 + static_cast<int>(spaces));
        TokenizerOptions options{.kind = kind, .normalization = normalization, .spaces = spaces};
        if (kind != Kind::byte) options.vocabulary = 60;
        const std::vector<std::string> train(kLines.begin(), kLines.begin() + 6);
        expect_same(Tokenizer::train(options, train));
      }
}

/// As if an output were cut within a character.
TEST(JsonForm, BytesThatAreNoTextLeaveTheOthersReadable) {
  const std::vector<std::string> lines{"a"};
  const auto bytes = Tokenizer::train({.kind = Kind::byte}, lines);
  const huggingface::TokenizerJson json(to_tokenizer_json(bytes.file(), {}));
  auto ids = json.encode("café");
  ids.pop_back();
  EXPECT_EQ(json.decode(ids), "caf\ufffd");
}

TEST(JsonForm, OfWordsHasTheSameIdsWhereEveryWordIsKnown) {
  const std::vector<std::string> lines{"the cat sat", "a dog sat"};
  const auto words = Tokenizer::train({.kind = Kind::word}, lines);
  const huggingface::TokenizerJson json(to_tokenizer_json(words.file(), {}));
  EXPECT_EQ(json.encode("a  cat sat"), words.encode("a cat sat"));
  EXPECT_EQ(json.encode("a cow sat"), words.encode("a cow sat"));
  EXPECT_EQ(json.encode("two cows sat").size(), words.encode("two cows sat").size() + 1);
}

TEST(JsonForm, OfAModelOfOthersHasItsIds) {
  const huggingface::TokenizerJson json(
      to_tokenizer_json(content("foreign/golden/llama.model"), {}));
  const auto cases = json_lines("foreign/golden/llama.jsonl");
  EXPECT_EQ(cases.size(), 18U);
  for (const auto& expected : cases) {
    const auto text = from_latin1(expected[0]);
    if (text.find('\xff') != std::string::npos) continue;  // what stands for bytes that are no text
    EXPECT_EQ(nlohmann::json(json.encode(text)), expected[1]) << text;
  }
}

TEST(JsonForm, SpecialTokensStandAroundATextAsAskedFor) {
  const std::vector<std::string> lines{"the cat sat", "a dog sat"};
  const auto tokenizer = Tokenizer::train({.vocabulary = 20}, lines);
  const auto framed = [&](const Frame& frame) {
    const huggingface::TokenizerJson json(to_tokenizer_json(tokenizer.file(), frame));
    auto ids = json.framed(json.encode("cat"));
    EXPECT_EQ(json.decode(ids), "cat");
    return std::pair(ids.front(), ids.back());
  };
  const auto plain = tokenizer.encode("cat");
  EXPECT_EQ(framed({}), std::pair(plain.front(), plain.back()));
  EXPECT_EQ(framed({.before = 1, .after = 2}), std::pair(1, 2));
  EXPECT_EQ(framed({.before = {}, .after = 2}), std::pair(plain.front(), 2));
}

TEST(JsonForm, AFileOfOthersGetsTheTokensThatTextsWereReadWith) {
  const auto bert = content("huggingface/golden/bert.json");  // 2 before a text and 3 behind it
  EXPECT_EQ(with_frame(bert, {.before = 2, .after = 3}), bert);
  const auto around = surroundings_of(with_frame(bert, {.before = {}, .after = 3}));
  EXPECT_TRUE(around.before.empty());
  EXPECT_EQ(around.behind, std::vector<int32_t>{3});
}

TEST(JsonForm, NamesWhatItCannotSay) {
  const auto said = [](const std::string& name) {
    return refusal_of<TokenizerError>(
        [&] { to_tokenizer_json(content("foreign/golden/" + name + ".model"), {}); });
  };
  EXPECT_EQ(said("suffix"), "spaces behind words have no form in tokenizer.json");
  EXPECT_TRUE(said("t5").starts_with("the piece '<extra_id_0>', which a user defined"));
}

}  // namespace
}  // namespace ablate::tokenizer
