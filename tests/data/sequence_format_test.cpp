#include "data/sequence_format.h"

#include <gtest/gtest.h>

namespace ablate::data {
namespace {

using tokenizer::kBos;
using tokenizer::kEos;
using Ids = std::vector<int32_t>;

const DataOptions kRunningText = Language{.masked = 0.25, .block = 3};
constexpr ModelParts kEncoderDecoder{.encoder = true, .decoder = true};
constexpr ModelParts kEncoderAlone{.encoder = true, .decoder = false};
constexpr ModelParts kDecoderAlone{.encoder = false, .decoder = true};

/// A tokenizer to which every character is a token, and ids of its letters.
class SequenceFormatTest : public testing::Test {
 protected:
  const tokenizer::Tokenizer letters_ =
      tokenizer::Tokenizer::train({.kind = tokenizer::Kind::character,
                                   .normalization = tokenizer::Normalization::identity,
                                   .spaces = tokenizer::Spaces::exact,
                                   .mask = true},
                                  std::vector<std::string>{"abc", "cab"});
  const Tokenizers tokenizers_{letters_, letters_};
  const int32_t a_ = letters_.encode("a").at(0), b_ = letters_.encode("b").at(0),
                c_ = letters_.encode("c").at(0);

  EncodedExample first(const SequenceFormat& format, const Example& example) {
    return format.encode(std::vector{example}, tokenizers_).examples.at(0);
  }
  Ids source(const SequenceFormat& format, std::string_view text) {
    return format.encode_source(text, tokenizers_).value().ids;
  }
};

TEST_F(SequenceFormatTest, AnEncoderReadsTheSourceOfAPairAndADecoderWritesTheTarget) {
  const SequenceFormat format(Copy{}, kEncoderDecoder, 4);
  const auto pair = first(format, {"ab", "c"});
  EXPECT_EQ(pair.source, (Ids{a_, b_, kEos}));
  EXPECT_EQ(pair.target, (Ids{c_, kEos}));
  EXPECT_EQ(pair.prompt_length, 0);
  EXPECT_EQ(source(format, "ab"), pair.source);
  EXPECT_EQ(format.encode_for_training(std::vector<Example>{{"ab", "c"}}, tokenizers_)
                .examples.at(0)
                .target,
            pair.target);
  EXPECT_FALSE(format.augmentation(tokenizers_).chunking.has_value());
  EXPECT_EQ(format.compared(), Compared::text);
  EXPECT_EQ(format.longest_sequence(7), 8);
}

TEST_F(SequenceFormatTest, TwoTextsHaveAnEndTokenBehindEach) {
  Labelled pairs{.columns = {.text_pair = "answer"}};
  const SequenceFormat format(pairs, kEncoderAlone, 9), cut(pairs, kEncoderAlone, 5);
  EXPECT_EQ(source(format, "ab\tc"), (Ids{kBos, a_, b_, kEos, c_, kEos}));
  EXPECT_EQ(source(format, "ab"), (Ids{kBos, a_, b_, kEos}));
  pairs.columns.text_pair.reset();
  const auto tab = source(SequenceFormat(pairs, kEncoderAlone, 9), "ab\tc");
  EXPECT_EQ(std::ranges::count(tab, kEos), 1) << "of one text";

  Tokenizers labelled = tokenizers_;
  labelled.labels = Labels(std::vector<Example>{{"", "no"}, {"", "yes"}});
  const std::vector<Example> examples{{"ab\tcc", "yes"}};
  EXPECT_EQ(format.encode(examples, labelled).examples.at(0).source,
            (Ids{kBos, a_, b_, kEos, c_, c_, kEos}));
  const auto shortened = cut.encode_for_training(examples, labelled);
  EXPECT_EQ(shortened.examples.at(0).source, (Ids{kBos, a_, b_, kEos, kEos}));
  EXPECT_EQ(shortened.cut_sources, 1);
}

TEST_F(SequenceFormatTest, ADecoderAloneReadsThePairAsOneSequenceAndPredictsTheTarget) {
  const SequenceFormat format(Copy{}, kDecoderAlone, 4);
  const auto pair = first(format, {"ab", "c"});
  EXPECT_TRUE(pair.source.empty());
  EXPECT_EQ(pair.target, (Ids{a_, b_, kEos, c_, kEos}));
  EXPECT_EQ(pair.prompt_length, 3);
  EXPECT_EQ(source(format, "ab"), (Ids{a_, b_, kEos}));
  EXPECT_EQ(format.longest_sequence(7), 4 + 8);
}

TEST_F(SequenceFormatTest, TrainingCutsSidesOfAPairAndCountsTheCuts) {
  const SequenceFormat format(Copy{}, kEncoderDecoder, 3);
  const auto set = format.encode_for_training(
      std::vector<Example>{{"abc", "a"}, {"ab", "cccc"}, {"bbbb", "c"}}, tokenizers_);
  EXPECT_EQ(set.examples[0].source, (Ids{a_, b_, kEos}));
  EXPECT_EQ(set.examples[1].target, (Ids{c_, c_, kEos}));
  EXPECT_EQ(set.cut_sources, 2);
  EXPECT_EQ(set.cut_targets, 1);
}

TEST_F(SequenceFormatTest, WhatIsScoredOrReadIsWholeWhateverTrainingCuts) {
  const std::vector<Example> pair{{"abc", "cccc"}};
  const SequenceFormat format(Copy{}, kEncoderDecoder, 3);
  for (const auto& set :
       {format.encode(pair, tokenizers_), format.encode_each(pair, tokenizers_)}) {
    EXPECT_EQ(set.examples[0].source, (Ids{a_, b_, c_, kEos}));
    EXPECT_EQ(set.examples[0].target, (Ids{c_, c_, c_, c_, kEos}));
    EXPECT_EQ(set.cut_sources + set.cut_targets, 0);
  }
  EXPECT_EQ(source(format, "abc"), (Ids{a_, b_, c_, kEos}));
  EXPECT_FALSE(format.encode_source("abc", tokenizers_)->cut);
  const SequenceFormat alone(kRunningText, kEncoderAlone, 3);
  EXPECT_EQ(source(alone, "abc"), (Ids{kBos, a_, b_, c_, kEos}));
}

TEST_F(SequenceFormatTest, OfALongPromptItsEndIsKept) {
  const SequenceFormat format(kRunningText, kDecoderAlone, 3);
  const auto prompt = format.encode_source("ab\ncb", tokenizers_);
  EXPECT_EQ(prompt->ids, (Ids{c_, b_}));
  EXPECT_TRUE(prompt->cut);
  EXPECT_EQ(format.longest_prompt(), 2);
  Language filled;
  filled.diffusion = true;
  filled.block = 7;
  EXPECT_EQ(SequenceFormat(filled, kEncoderAlone, 9).longest_prompt(), 4);
  EXPECT_EQ(SequenceFormat(filled, kEncoderAlone, 3).longest_prompt(), 2);
  EXPECT_FALSE(format.encode_source("cb", tokenizers_)->cut);
}

TEST_F(SequenceFormatTest, ABlankLineOfAPairIsNotRead) {
  for (const auto parts : {kEncoderDecoder, kDecoderAlone})
    for (const std::string_view blank : {"", " \t", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x8b"})
      EXPECT_FALSE(SequenceFormat(Copy{}, parts, 9).encode_source(blank, tokenizers_).has_value());
  EXPECT_FALSE(SequenceFormat(Labelled{}, kEncoderAlone, 9).encode_source(" ", tokenizers_));
}

TEST_F(SequenceFormatTest, RunningTextIsCutIntoBlocksAndAPromptIsNotClosed) {
  const SequenceFormat format(kRunningText, kDecoderAlone, 9);
  const auto set = format.encode(std::vector<Example>{{{}, "abc"}, {{}, "ca"}}, tokenizers_);
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_EQ(set.examples[0].target, (Ids{a_, b_, c_, kEos}));
  EXPECT_EQ(set.examples[1].target, (Ids{kEos, c_, a_, kEos}));
  const auto training =
      format.encode_for_training(std::vector<Example>{{{}, "abc"}, {{}, "ca"}}, tokenizers_);
  ASSERT_EQ(training.examples.size(), 1U) << "every epoch cuts the whole text anew";
  EXPECT_EQ(training.examples[0].target, (Ids{a_, b_, c_, kEos, c_, a_, kEos}));
  EXPECT_EQ(format.augmentation(tokenizers_).chunking->block, 3);
  EXPECT_FALSE(format.augmentation(tokenizers_).chunking->masked);
  EXPECT_EQ(source(format, "ab\nc"), (Ids{a_, b_, kEos, c_}));
  EXPECT_EQ(source(format, "ab\n"), (Ids{a_, b_, kEos}));
  EXPECT_EQ(source(format, ""), (Ids{kEos})) << "a new text begins where the one before ended";
  EXPECT_TRUE(format.continues_text());
  EXPECT_EQ(format.compared(), Compared::nothing);
  EXPECT_EQ(format.longest_sequence(100), 4);
}

TEST_F(SequenceFormatTest, RunningTextEndsOnlyWhereOneLineIsWanted) {
  const SequenceFormat text(kRunningText, kDecoderAlone, 9), pairs(Copy{}, kDecoderAlone, 9);
  EXPECT_EQ(text.end_token(false), std::nullopt);
  EXPECT_EQ(text.end_token(true), kEos);
  EXPECT_EQ(pairs.end_token(false), kEos);
  EXPECT_EQ(text.decode(Ids{a_, kEos, b_, c_, kEos}, tokenizers_), "a\nbc\n");
}

TEST(SequenceFormat, AContinuationHasTheSpaceBeforeItsFirstWord) {
  const std::vector<Example> texts{{{}, "a b c"}};
  const auto words = train_tokenizers({.kind = tokenizer::Kind::word}, texts);
  const SequenceFormat format(Language{}, {.encoder = false}, 9);
  const auto added = [&](const std::string& text) {
    const auto source = format.encode_source(text, words)->ids;
    return format.continuation(text, source, words.target.encode("b c"), words);
  };
  EXPECT_EQ(added("a"), " b c");
  EXPECT_EQ(added("a "), "b c") << "a tidy tokenizer leaves the last space out";
  EXPECT_EQ(added("c a"), " b c");
  EXPECT_EQ(added("a\n"), "b c");
  EXPECT_EQ(added(""), "b c");
}

TEST_F(SequenceFormatTest, AnExampleOfRunningTextByItselfIsALineAndTheLineAfterIt) {
  const SequenceFormat format(kRunningText, kDecoderAlone, 9);
  const auto set = format.encode_each(std::vector<Example>{{"ab", "c"}}, tokenizers_);
  EXPECT_EQ(set.examples[0].target, (Ids{a_, b_, kEos, c_, kEos}));
  EXPECT_EQ(set.examples[0].prompt_length, 3);
}

TEST_F(SequenceFormatTest, AnEncoderAloneFindsMaskedTokensBehindAStartToken) {
  const SequenceFormat format(kRunningText, kEncoderAlone, 9);
  const auto block = first(format, {{}, "abca"});
  EXPECT_EQ(block.source, (Ids{kBos, a_, b_, c_}));
  EXPECT_EQ(block.target, block.source);
  EXPECT_EQ(block.prompt_length, 1);
  EXPECT_EQ(source(format, "ab"), (Ids{kBos, a_, b_, kEos}));
  EXPECT_TRUE(format.augmentation(tokenizers_).chunking->masked);
  const auto masking = format.masking(tokenizers_);
  ASSERT_TRUE(masking.has_value());
  EXPECT_EQ(masking->share, 0.25);
  EXPECT_EQ(masking->vocabulary, letters_.vocabulary_size());
  EXPECT_FALSE(SequenceFormat(kRunningText, kDecoderAlone, 9).masking(tokenizers_).has_value());
}

TEST_F(SequenceFormatTest, WithoutAMaskTokenNothingIsHidden) {
  const auto plain = tokenizer::Tokenizer::train({.kind = tokenizer::Kind::character},
                                                 std::vector<std::string>{"abc", "cab"});
  const SequenceFormat format(kRunningText, kEncoderAlone, 9);
  EXPECT_THROW(format.masking({plain, plain}), tokenizer::TokenizerError);
  EXPECT_THROW(format.augmentation({plain, plain}, {}), tokenizer::TokenizerError);
}

TEST_F(SequenceFormatTest, AClassIsTheOneTargetOfItsText) {
  const SequenceFormat format(Labelled{}, kEncoderAlone, 4);
  const std::vector<Example> train{{"abca", "good"}, {"b", "bad"}};
  const auto own = format.tokenizers({.kind = tokenizer::Kind::character}, train, {});
  const auto set = format.encode_for_training(train, own);
  const auto& [source, target, prompt_length, started] = set.examples.at(0);
  EXPECT_EQ(source.size(), 4U);
  EXPECT_EQ(source.front(), kBos);
  EXPECT_EQ(source.back(), kEos);
  EXPECT_EQ(target, std::vector<int32_t>{1}) << "the second name by its bytes";
  EXPECT_EQ(set.examples.at(1).target, std::vector<int32_t>{0});
  EXPECT_EQ(format.decode(set.examples.at(1).target, own), "bad");
  EXPECT_EQ(set.cut_sources, 1);
  const auto whole = format.encode(train, own).examples.at(0).source;
  EXPECT_EQ(whole.size(), 7U) << "with the space at the start";
  EXPECT_EQ(format.encode_source("abca", own)->ids, whole);
  EXPECT_EQ(format.compared(), Compared::label);
}

TEST_F(SequenceFormatTest, TheSameClassesKeepTheOrderOfTheRunStartedFrom) {
  const std::vector<Example> train{{"a", "bad"}, {"b", "good"}};
  auto start = tokenizers_;
  const auto classes = [&](const std::string& theirs) {
    start.labels = Labels::from_text(theirs);
    return SequenceFormat(Labelled{}, kEncoderAlone, 9)
        .tokenizers({.kind = tokenizer::Kind::word}, train, start)
        .labels->to_text();
  };
  EXPECT_EQ(classes("good\nbad\n"), "good\nbad\n");
  EXPECT_EQ(classes("good\nbad\nfair\n"), "bad\ngood\n");
  EXPECT_EQ(classes("good\nfair\n"), "bad\ngood\n");
}

TEST_F(SequenceFormatTest, TokenizersComeFromTheRunStartedFromExceptThoseOfClasses) {
  const std::vector<Example> train{{"a b", "yes"}};
  const auto pairs = SequenceFormat(Copy{}, kEncoderDecoder, 9)
                         .tokenizers({.kind = tokenizer::Kind::word}, train, tokenizers_);
  EXPECT_EQ(pairs.source.sha256(), letters_.sha256());
  EXPECT_EQ(pairs.target.sha256(), letters_.sha256());
  const auto classes = SequenceFormat(Labelled{}, kEncoderAlone, 9)
                           .tokenizers({.kind = tokenizer::Kind::word}, train, tokenizers_);
  EXPECT_EQ(classes.source.sha256(), letters_.sha256());
  EXPECT_EQ(classes.labels, Labels(train));
  const auto again = SequenceFormat(Copy{}, kEncoderDecoder, 9)
                         .tokenizers({.kind = tokenizer::Kind::word}, train, classes);
  EXPECT_EQ(again.labels, std::nullopt) << "text has no classes, whatever it starts from";
}

TEST_F(SequenceFormatTest, EveryOutputStartsWithTheTokenThatTrainingPutsBeforeTargets) {
  EXPECT_EQ(SequenceFormat(kRunningText, kDecoderAlone, 9).start_token(tokenizers_), kStartToken);
  EXPECT_EQ(SequenceFormat(Copy{}, kEncoderDecoder, 9).start_token(tokenizers_), kStartToken);
}

}  // namespace
}  // namespace ablate::data
