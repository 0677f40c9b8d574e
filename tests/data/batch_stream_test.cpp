#include "data/batch_stream.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "data/corpus.h"
#include "tokenizer/special_tokens.h"

namespace ablate::data {
namespace {

std::vector<EncodedExample> pairs() {
  std::vector<EncodedExample> all;
  for (size_t i = 0; i < 100; ++i)
    all.push_back(
        {std::vector<int32_t>(2 + (i * 7) % 23, 5), std::vector<int32_t>(2 + (i * 5) % 17, 6)});
  return all;
}

/// Pairs whose ids and lengths are other ones in every epoch.
std::vector<EncodedExample> pairs_of(int64_t epoch) {
  auto all = pairs();
  for (size_t i = 0; i < all.size(); ++i)
    all[i].target.resize(2 + (i * 5 + static_cast<size_t>(epoch)) % 17,
                         static_cast<int32_t>(10 + epoch));
  return all;
}

TEST(BatchStream, ShowsInEveryEpochWhatIsWrittenForItAndContinuesFromAnyPositionExactly) {
  const auto all = pairs();
  for (const bool rewrites : {false, true}) {
    BatchStream::Options options{.tokens_per_batch = 100, .seed = 3, .start = {}};
    if (rewrites) options.augmentation.rewritten = pairs_of;
    BatchStream whole(all, options);
    std::map<int64_t, int64_t> tokens;
    for (int i = 0; whole.position().epoch < 3; ++i) {
      options.start = whole.position();
      const auto batch = whole.next();
      tokens[options.start.epoch] += batch.tokens;
      if (i % 7 != 0) continue;
      BatchStream resumed(all, options);
      const auto same = resumed.next();
      EXPECT_EQ(same.source, batch.source);
      EXPECT_EQ(same.target_out, batch.target_out);
      EXPECT_EQ(resumed.position(), whole.position());
    }
    for (const auto& [epoch, count] : tokens) {
      int64_t expected = 0;
      for (const auto& pair : rewrites ? pairs_of(epoch) : all) expected += std::ssize(pair.target);
      EXPECT_EQ(count, expected) << epoch;
    }
    EXPECT_EQ(tokens.size(), 3U);
  }
}

/// Running text in which no id occurs twice.
std::vector<EncodedExample> running_text() {
  std::vector<int32_t> ids(300);
  std::iota(ids.begin(), ids.end(), 10);
  return {{.target = ids, .prompt_length = 1}};
}

BatchStream::Options running(bool masked, StreamPosition start = {}) {
  return {.tokens_per_batch = 100,
          .seed = 3,
          .start = start,
          .augmentation = {.chunking = Chunking{.block = 8, .masked = masked}}};
}

/// The tokens that an epoch predicts, and those that it predicts first of a block.
struct Epoch {
  std::multiset<int64_t> predicted;
  std::set<int64_t> first;
  bool operator==(const Epoch&) const = default;
};

std::vector<Epoch> epochs(const std::vector<EncodedExample>& text, bool masked, int64_t count) {
  BatchStream stream(text, running(masked));
  std::vector<Epoch> all(static_cast<size_t>(count));
  while (stream.position().epoch < count) {
    auto& epoch = all[static_cast<size_t>(stream.position().epoch)];
    const auto batch = stream.next();
    for (int64_t row = 0; row < batch.rows; ++row)
      epoch.first.insert(batch.target_out[static_cast<size_t>(row * batch.target_length + 1)]);
    for (const auto id : batch.target_out)
      if (id != tokenizer::kPad) epoch.predicted.insert(id);
  }
  return all;
}

TEST(BatchStream, EveryEpochOfRunningTextPredictsTheSameTokensInOtherBlocks) {
  for (const bool masked : {false, true}) {
    const auto text = running_text();
    const auto all = epochs(text, masked, 4);
    std::multiset<int64_t> expected;
    for (int64_t id = masked ? 10 : 11; id < 310; ++id) expected.insert(id);
    std::set<std::set<int64_t>> cuts;
    for (const auto& epoch : all) {
      EXPECT_EQ(epoch.predicted, expected);
      cuts.insert(epoch.first);
    }
    EXPECT_GT(cuts.size(), 2U) << "of 4, and an offset is one of 8";
    EXPECT_EQ(epochs(text, masked, 4), all) << "the same seed cuts at the same places";
  }
}

TEST(BatchStream, RunningTextContinuesFromAnyPositionExactly) {
  for (const bool masked : {false, true}) {
    const auto text = running_text();
    BatchStream whole(text, running(masked));
    for (int i = 0; i < 20; ++i) {
      const auto position = whole.position();
      const auto batch = whole.next();
      BatchStream resumed(text, running(masked, position));
      const auto again = resumed.next();
      EXPECT_EQ(again.source, batch.source);
      EXPECT_EQ(again.target_in, batch.target_in);
      EXPECT_EQ(again.target_out, batch.target_out);
      EXPECT_EQ(resumed.position(), whole.position());
    }
    EXPECT_GT(whole.position().epoch, 1);
  }
}

TEST(BatchStream, RefusesExamplesOfWhichNothingIsToBePredicted) {
  const std::vector<EncodedExample> none, one_id{{.target = {7}, .prompt_length = 1}};
  EXPECT_THROW(BatchStream(none, {.tokens_per_batch = 9, .seed = 1, .start = {}}), DataError);
  EXPECT_THROW(BatchStream(one_id, running(false)), DataError);
  EXPECT_NO_THROW(BatchStream(one_id, running(true)).next());
}

}  // namespace
}  // namespace ablate::data
