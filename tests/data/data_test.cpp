#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <fstream>
#include <set>

#include "data/batch_stream.h"
#include "data/batching.h"
#include "data/corpus.h"
#include "tokenizer/special_ids.h"

namespace ablate::data {
namespace {

Corpus made(const DataOptions& options, uint64_t seed = 1) { return load(options, ".", seed); }

TEST(Generated, TrainingValidationAndTestsAreDisjoint) {
  Numbers numbers;
  numbers.test_digits = {4, 5};
  Reverse reverse;
  reverse.test_length = {3, 12, 13};
  for (const DataOptions& options : {DataOptions(numbers), DataOptions(reverse)}) {
    const auto corpus = made(options);
    std::set<std::string> held;
    const auto add = [&](const std::vector<Example>& set) {
      for (const auto& example : set) EXPECT_TRUE(held.insert(example.source).second);
    };
    add(corpus.validation);
    for (const auto& test : corpus.tests) add(test.examples);
    for (const auto& example : corpus.train) EXPECT_FALSE(held.contains(example.source));
  }
}

TEST(Generated, DependsOnOptionsAndSeedAlone) {
  Reverse reverse;
  EXPECT_EQ(made(reverse).sha256, made(reverse).sha256);
  EXPECT_NE(made(reverse, 1).sha256, made(reverse, 2).sha256);
}

TEST(Generated, TargetsAreWhatTheTaskSays) {
  const auto first = [](const DataOptions& options) { return made(options).tests[0].examples[0]; };
  const auto copy = first(Copy{});
  EXPECT_EQ(copy.source, copy.target);
  const auto reverse = first(Reverse{});
  EXPECT_EQ(std::string(reverse.source.rbegin(), reverse.source.rend()), reverse.target);
  auto sorted = first(Sort{});
  std::string letters = sorted.source, target = sorted.target;
  std::erase(letters, ' ');
  std::erase(target, ' ');
  std::sort(letters.begin(), letters.end());
  EXPECT_EQ(letters, target);
  auto sum = first(Addition{});
  std::erase(sum.source, ' ');
  std::erase(sum.target, ' ');
  const auto plus = sum.source.find('+');
  EXPECT_EQ(std::stoll(sum.source.substr(0, plus)) + std::stoll(sum.source.substr(plus + 1)),
            std::stoll(sum.target));
}

TEST(Generated, NumbersAreSpelledOutWithoutSoftHyphens) {
  Numbers numbers;
  numbers.train_digits = 3;
  numbers.examples = {.train = 20'000, .validation = 20, .test = 100};
  numbers.test_digits = {3};
  const auto corpus = made(numbers);
  auto all = corpus.train;
  all.insert(all.end(), corpus.tests[0].examples.begin(), corpus.tests[0].examples.end());
  all.insert(all.end(), corpus.validation.begin(), corpus.validation.end());
  bool seen = false;
  for (const auto& example : all) {
    EXPECT_EQ(example.target.find("\xc2\xad"), std::string::npos);
    if (example.source != "four hundred two") continue;
    EXPECT_EQ(example.target, "vierhundertzwei");
    seen = true;
  }
  EXPECT_TRUE(seen);
}

TEST(Generated, AnUnknownLanguageIsNamed) {
  Numbers numbers;
  numbers.target = "klingon";
  try {
    made(numbers);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("'klingon'"), std::string::npos);
  }
}

TEST(Generated, LengthsBeyondTrainingAreMarked) {
  Reverse reverse;
  reverse.test_length = {12, 13};
  const auto corpus = made(reverse);
  EXPECT_FALSE(corpus.tests[0].beyond);
  EXPECT_TRUE(corpus.tests[1].beyond);
  EXPECT_EQ(corpus.tests[1].name, "length 13");
}

class TextFiles : public testing::Test {
 protected:
  TextFiles() {
    std::string pattern = testing::TempDir() + "ablate-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    write("good.en", "one\ntwo\n");
    write("good.de", "eins\nzwei\n");
  }
  ~TextFiles() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Text options(const std::string& source = "good.en", const std::string& target = "good.de") {
    return {.train = {source, target},
            .validation = {"good.en", "good.de"},
            .test = {"good.en", "good.de"}};
  }
  std::string message(const Text& text) {
    try {
      load(text, folder_, 1);
    } catch (const DataError& error) {
      std::string what = error.what();
      for (size_t at; (at = what.find(folder_.string() + "/")) != std::string::npos;)
        what.erase(at, folder_.string().size() + 1);
      return what;
    }
    return "read";
  }
  std::filesystem::path folder_;
};

TEST_F(TextFiles, MayBeGzipAndHaveAnyLineEnds) {
  const auto file = folder_ / "packed.gz";
  gzFile packed = gzopen(file.c_str(), "wb");
  gzputs(packed,
         "\xef\xbb\xbf"
         "eins\r\nzwei");
  gzclose(packed);
  const auto corpus = load(options("good.en", "packed.gz"), folder_, 1);
  EXPECT_EQ(corpus.train, (std::vector<Example>{{"one", "eins"}, {"two", "zwei"}}));
  EXPECT_EQ(corpus.tests[0].name, "good");
}

TEST_F(TextFiles, MayBeOneTsv) {
  write("pairs.tsv", "one\teins\ntwo\tzwei\n");
  auto text = options();
  text.train = {"pairs.tsv"};
  EXPECT_EQ(load(text, folder_, 1).train, (std::vector<Example>{{"one", "eins"}, {"two", "zwei"}}));
}

TEST_F(TextFiles, EveryFaultIsNamedWithFileAndLine) {
  const std::string mend = "; mend the line, or leave such lines out with data.bad_lines: skip";
  write("short", "eins\n");
  EXPECT_EQ(message(options("good.en", "short")),
            "good.en has 2 lines and short has 1; line-parallel files need the same number");
  write("empty", "");
  EXPECT_EQ(message(options("good.en", "empty")), "empty: the file is empty");
  write("blank", "eins\n  \n");
  EXPECT_EQ(message(options("good.en", "blank")), "blank:2: the line is empty" + mend);
  write("binary", "eins\n\xff\xfe\n");
  EXPECT_EQ(message(options("good.en", "binary")), "binary:2: the line is not valid UTF-8" + mend);
  write("nul", std::string("ei\0ns\nzwei\n", 11));
  EXPECT_EQ(message(options("good.en", "nul")), "nul:1: the line holds a NUL byte" + mend);
  write("long", "eins\n" + std::string(70'000, 'x') + "\n");
  EXPECT_EQ(message(options("good.en", "long")),
            "long:2: the line has 70000 bytes, more than max_line_bytes 65536" + mend);
  EXPECT_EQ(message(options("good.en", "missing")).substr(0, 24), "missing: cannot be read;");
  write("cut.gz", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b", 11));
  EXPECT_EQ(message(options("good.en", "cut.gz")),
            "cut.gz: the gzip archive is damaged or cut off");
}

TEST_F(TextFiles, BadLinesMayBeSkippedAndAreCounted) {
  write("mixed", "eins\n\xff\n");
  auto text = options("good.en", "mixed");
  text.bad_lines = BadLine::skip;
  const auto corpus = load(text, folder_, 1);
  EXPECT_EQ(corpus.train.size(), 1U);
  EXPECT_EQ(corpus.skipped, 1);
}

std::vector<EncodedExample> examples(size_t count) {
  std::vector<EncodedExample> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(
        {std::vector<int32_t>(2 + (i * 7) % 23, 5), std::vector<int32_t>(2 + (i * 5) % 17, 6)});
  return result;
}

TEST(BatchPlan, ShowsEveryExampleOnceWithinTheBudget) {
  const auto all = examples(500);
  std::multiset<int64_t> seen;
  for (const auto& batch : batch_plan(all, {.tokens_per_batch = 200, .seed = 1, .epoch = 0})) {
    const auto padded = collate(all, batch);
    EXPECT_LE(padded.rows * padded.source_length, 200);
    EXPECT_LE(padded.rows * padded.target_length, 200);
    seen.insert(batch.begin(), batch.end());
  }
  EXPECT_EQ(seen.size(), all.size());
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), all.size());
}

TEST(BatchPlan, IsAFunctionOfSeedAndEpoch) {
  const auto all = examples(300);
  const auto plan = [&](uint64_t seed, int64_t epoch) {
    return batch_plan(all, {.tokens_per_batch = 120, .seed = seed, .epoch = epoch});
  };
  EXPECT_EQ(plan(1, 0), plan(1, 0));
  EXPECT_NE(plan(1, 0), plan(1, 1));
  EXPECT_NE(plan(1, 0), plan(2, 0));
}

TEST(Collate, PadsAndShiftsAsTheDecoderNeeds) {
  const std::vector<EncodedExample> two{{{7, 2}, {8, 9, 2}}, {{5, 6, 2}, {4, 2}}};
  const auto batch = collate(two, std::vector<int64_t>{0, 1});
  EXPECT_EQ(batch.source, (std::vector<int64_t>{7, 2, 0, 5, 6, 2}));
  EXPECT_EQ(batch.target_in, (std::vector<int64_t>{1, 8, 9, 1, 4, 0}));
  EXPECT_EQ(batch.target_out, (std::vector<int64_t>{8, 9, 2, 4, 2, 0}));
  EXPECT_EQ(batch.tokens, 5);
}

TEST(BatchStream, ContinuesFromAnyPositionExactly) {
  const auto all = examples(100);
  const auto open = [&](StreamPosition start) {
    return std::make_unique<BatchStream>(
        all, BatchStream::Options{.tokens_per_batch = 100, .seed = 3, .start = start});
  };
  const auto whole = open({});
  for (int i = 0; i < 60; ++i) {
    const auto position = whole->position();
    const auto batch = whole->next();
    if (i % 7 != 0) continue;
    const auto resumed = open(position);
    EXPECT_EQ(resumed->next().source, batch.source);
    EXPECT_EQ(resumed->position(), whole->position());
  }
  EXPECT_GT(whole->position().epoch, 0);
}

TEST(Multi30k, LoadsWhereTheDataIs) {
  const char* given = getenv("ABLATE_DATA");
  const std::filesystem::path folder =
      given != nullptr ? given : std::string(ABLATE_SOURCE) + "/../shared/data";
  if (!std::filesystem::exists(folder / "multi30k")) GTEST_SKIP() << "no multi30k in " << folder;
  const Text text{.train = {"multi30k/train.en.gz", "multi30k/train.de.gz"},
                  .validation = {"multi30k/val.en.gz", "multi30k/val.de.gz"},
                  .test = {"multi30k/test_2016_flickr.en.gz", "multi30k/test_2016_flickr.de.gz"}};
  const auto corpus = load(text, folder, 1);
  EXPECT_EQ(corpus.train.size(), 29'000U);
  EXPECT_EQ(corpus.validation.size(), 1'014U);
  EXPECT_EQ(corpus.tests[0].examples.size(), 1'000U);
  EXPECT_EQ(corpus.tests[0].name, "test_2016_flickr");
}

}  // namespace
}  // namespace ablate::data
