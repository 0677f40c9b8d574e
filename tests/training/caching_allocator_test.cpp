#include "training/caching_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "training/device.h"

namespace ablate::training {
namespace {

CachingAllocator& allocator() { return CachingAllocator::instance(); }

TEST(CachingAllocator, GivesAFreedBlockToTheNextOfLikeSize) {
  void* first = allocator().allocate(1000).get();
  const auto second = allocator().allocate(990);
  EXPECT_EQ(first, second.get());
  EXPECT_NE(allocator().allocate(2000).get(), first);
}

TEST(CachingAllocator, BlocksAreAlignedWritableAndLittleLargerThanAskedFor) {
  for (size_t bytes = 1; bytes < (size_t{5} << 20); bytes = bytes * 17 / 16 + 1) {
    const auto before = allocator().statistics().in_use;
    const auto block = allocator().allocate(bytes);
    const auto taken = allocator().statistics().in_use - before;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0U);
    std::memset(block.get(), 1, bytes);
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, std::max<size_t>(104, bytes + bytes * 5 / 8 + 1)) << bytes;
  }
}

TEST(CachingAllocator, NothingIsNeededForNothing) {
  EXPECT_EQ(allocator().allocate(0).get(), nullptr);
}

TEST(CachingAllocator, ImpossibleSizesThrow) {
  const auto before = allocator().statistics().in_use;
  EXPECT_THROW(allocator().allocate(size_t{1} << 59), std::bad_alloc);
  EXPECT_THROW(allocator().allocate(~size_t{0}), std::bad_alloc);
  EXPECT_EQ(allocator().statistics().in_use, before);
}

TEST(CachingAllocator, WhatCouldNotBeHadIsNoPeak) {
  const auto before = allocator().statistics().most;
  EXPECT_THROW(allocator().allocate(size_t{1} << 50), std::bad_alloc);
  EXPECT_EQ(allocator().statistics().most, before);
}

TEST(CachingAllocator, KeepsNoMoreThanWasInUse) {
  // Sizes that grow for ever fit no kept block: without a bound all of them would be kept.
  for (size_t bytes = size_t{1} << 20; bytes < (size_t{64} << 20); bytes += bytes / 4)
    allocator().allocate(bytes);
  const auto statistics = allocator().statistics();
  EXPECT_LE(statistics.kept + statistics.in_use,
            std::max(2 * statistics.most, CachingAllocator::kSpare));
}

TEST(CachingAllocator, ServesSeveralThreads) {
  const auto before = allocator().statistics().in_use;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (size_t i = 0; i < 2000; ++i) {
        const size_t bytes = 64 + (i * 37 + static_cast<size_t>(t)) % 5000;
        const auto block = allocator().allocate(bytes);
        std::memset(block.get(), t, bytes);
        EXPECT_EQ(static_cast<char*>(block.get())[bytes - 1], t);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(allocator().statistics().in_use, before);
}

}  // namespace
}  // namespace ablate::training
