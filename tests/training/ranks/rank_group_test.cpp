#include "training/ranks/rank_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/folder.h"
#include "tests/says.h"
#include "training/device.h"
#include "training/ranks/key_file_store.h"

namespace ablate::training {
namespace {

/// Calls the function as each of so many ranks, side by side.
void as_ranks(int64_t size, const std::function<void(const RankGroup&)>& call) {
  const Folder folder;
  std::vector<std::thread> ranks;
  for (int64_t rank = 0; rank < size; ++rank)
    ranks.emplace_back([&, rank] {
      const RankGroup group({.rank = rank, .size = size, .file = folder.path / "store"},
                            torch::kCPU);
      call(group);
    });
  for (auto& rank : ranks) rank.join();
}

// Summands whose sum in float depends on the order in which they are added.
const std::vector<float> kParts{1e8F, 3.0F, -1e8F, 3.0F};

TEST(RankGroup, AloneItLeavesATensorAsItIs) {
  const auto tensor = torch::tensor({1.0F, 2.0F});
  EXPECT_TRUE(torch::equal(RankGroup::alone().sum(tensor), tensor));
  RankGroup::alone().agree_on(7, "numbers");
}

TEST(RankGroup, AddsInTheOrderOfABinaryTreeAndGivesAllRanksTheSame) {
  const float tree = (kParts[0] + kParts[1]) + (kParts[2] + kParts[3]);
  ASSERT_NE(tree, ((kParts[0] + kParts[2]) + kParts[1]) + kParts[3]);
  std::vector<float> sums(4);
  as_ranks(4, [&](const RankGroup& ranks) {
    const auto rank = static_cast<size_t>(ranks.rank());
    sums[rank] = ranks.sum(torch::tensor({kParts[rank]})).item<float>();
  });
  EXPECT_EQ(sums, std::vector<float>(4, tree));
}

TEST(RankGroup, ASumLeavesThePartsAlone) {
  as_ranks(2, [&](const RankGroup& ranks) {
    const auto part = torch::ones({3});
    EXPECT_TRUE(torch::equal(ranks.sum(part), torch::full({3}, 2.0)));
    EXPECT_TRUE(torch::equal(part, torch::ones({3})));
  });
}

/// Two and four of 2, 4, 4 and 6: a sum of 16 is four times the number of two of the ranks.
TEST(RankGroup, AnyDifferenceIsSeenByEveryRank) {
  const std::vector<int64_t> numbers{2, 4, 4, 6};
  std::atomic<int> seen = 0;
  as_ranks(4, [&](const RankGroup& ranks) {
    ranks.agree_on(7, "seeds");
    try {
      ranks.agree_on(numbers[static_cast<size_t>(ranks.rank())], "steps");
    } catch (const RankLost&) {
      ++seen;
    }
  });
  EXPECT_EQ(seen, 4);
}

/// A folder of keys in which the other of two ranks ends at some time.
class LostRank : public testing::Test {
 protected:
  /// Those that are there in full, and not still being written.
  std::ptrdiff_t keys() const {
    return std::ranges::count_if(std::filesystem::directory_iterator(folder_), [](const auto& key) {
      return key.path().filename().string().starts_with("store");
    });
  }
  void arrive(const std::string& rank) const {
    KeyFileStore(store_).set("ablate//here/" + rank, std::vector<uint8_t>{1});
  }
  /// What the first rank says of the other one, which ends as soon as there are so many keys.
  std::string connect(std::ptrdiff_t ends_at) const {
    const RankPlace place{
        .size = 2, .file = store_, .timeout = std::chrono::minutes(1), .lost = [&] {
          return keys() < ends_at ? "" : "rank 1 ended";
        }};
    try {
      const RankGroup group(place, torch::kCPU);
      return "connected";
    } catch (const RankLost& lost) {
      return lost.what();
    }
  }

  const Folder own_;
  const std::filesystem::path folder_ = own_.path, store_ = folder_ / "store";
  const std::string named_ = "not all 2 ranks of this run could be reached (rank 1 ended)";
};

TEST_F(LostRank, IsNotWaitedForWhereItEndsBeforeItArrives) { EXPECT_EQ(connect(1), named_); }

TEST_F(LostRank, IsNotWaitedForWhereItEndsBeforeItGivesItsAddress) {
  arrive("1");
  EXPECT_EQ(connect(3), named_);
}

TEST_F(LostRank, TheThreadThatIsLeftBehindKeepsNothingOfItsCaller) {
  const auto asked = std::make_shared<int>(0);
  arrive("1");
  const RankPlace place{
      .size = 2, .file = store_, .timeout = std::chrono::seconds(20), .lost = [&, asked] {
        return keys() < 3 ? "" : "rank 1 ended";
      }};
  EXPECT_THROW(RankGroup(place, torch::kCPU), RankLost);
  EXPECT_EQ(asked.use_count(), 2) << "of this test and its place";
}

TEST_F(LostRank, IsNotWaitedForWhereItEndsAfterItGaveItsAddress) {
  arrive("0");
  const RankPlace other{.rank = 1, .size = 2, .file = store_, .timeout = std::chrono::seconds(0)};
  EXPECT_THROW(RankGroup(other, torch::kCPU), RankLost);  // since nobody gives it an address
  ASSERT_EQ(keys(), 3);                                   // both have arrived, and its own one
  EXPECT_EQ(connect(4), named_);
}

TEST(KeyFileStore, AKeyIsThereWithAllItsBytesOrNotAtAll) {
  const Folder folder;
  const auto prefix = folder.path / "store";
  KeyFileStore store(prefix), other(prefix);
  EXPECT_FALSE(other.check({"a/b"}));
  const std::vector<uint8_t> value{0, 255, '\n'};
  store.set("a/b", value);
  store.set("a/b", value);
  EXPECT_EQ(other.get("a/b"), value);
  std::ifstream reader(std::filesystem::directory_iterator(folder.path)->path());
  store.set("a/b", {1});
  EXPECT_EQ(std::string(std::istreambuf_iterator(reader), {}),
            std::string(value.begin(), value.end()))
      << "for one who reads meanwhile";
  EXPECT_FALSE(other.check({"a/b", "a"}));
  EXPECT_THROW(other.wait({"a"}, std::chrono::milliseconds(0)), std::runtime_error);
  EXPECT_TRUE(store.deleteKey("a/b"));
  EXPECT_FALSE(other.check({"a/b"}));
}

TEST(KeyFileStore, AddsAndCountsForAllThatShareIt) {
  const Folder folder;
  const auto prefix = folder.path / "store";
  const auto add = [&] {
    KeyFileStore store(prefix);
    for (int i = 0; i < 20; ++i) store.add("number", 2);
  };
  std::thread other(add);
  add();
  other.join();
  KeyFileStore store(prefix);
  EXPECT_EQ(store.add("number", -1), 79);
  EXPECT_EQ(store.get("number"), (std::vector<uint8_t>{'7', '9'}));
  store.set("a/b", {1});
  EXPECT_EQ(store.getNumKeys(), 2);
}

TEST(RankGroup, TwoRanksOnOneGpuAreToldSo) {
  const Folder folder;
  KeyFileStore store(folder.path / "store");
  const auto say = [&](int64_t rank, const std::string& device) -> std::string {
    return refusal_of<DeviceError>(
        [&] { refuse_shared_device(store, {.rank = rank, .size = 3}, device); });
  };
  EXPECT_EQ(say(2, "card b"), "");
  EXPECT_EQ(say(1, "card b").substr(0, 35), "ranks 1 and 2 have the same GPU; gi");
  EXPECT_EQ(say(0, "card a"), "");
}

}  // namespace
}  // namespace ablate::training
