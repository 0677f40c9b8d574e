#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "training/inference/length_check.h"

namespace ablate::training {
namespace {

TEST(LengthBatches, HoldEveryRowOnceTheLongestFirst) {
  const std::vector<size_t> lengths{3, 9, 1, 9, 4};
  EXPECT_EQ(batches_by_length(lengths, 2),
            (std::vector<std::vector<int64_t>>{{1, 3}, {4, 0}, {2}}));
  EXPECT_TRUE(batches_by_length({}, 2).empty());
}

TEST(InParallel, CallsEveryIndexOnceAndRethrows) {
  std::vector<std::atomic<int>> calls(50);
  in_parallel(calls.size(), 3, [&](size_t i) { ++calls[i]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_THROW(in_parallel(9, 2, [](size_t i) { TORCH_CHECK(i != 4); }), c10::Error);
}

TEST(InParallel, DoesAllOfItWithFewerThreadsIfNoMoreAreToBeHad) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit most{1, 1};  // processes and threads of a user, which root may exceed
    if (setrlimit(RLIMIT_NPROC, &most) != 0 || (geteuid() == 0 && setuid(65534) != 0)) _exit(2);
    std::atomic<size_t> calls = 0;
    in_parallel(50, 8, [&](size_t) { ++calls; });
    _exit(calls == 50 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// LibTorch's number of threads as a thread sees it that is made now.
int threads_of_a_new_thread() {
  int count = 0;
  std::thread([&] { count = at::get_num_threads(); }).join();
  return count;
}

TEST(InParallel, LeavesTheNumberOfThreadsAsItWas) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  in_parallel(4, 2, [](size_t) { EXPECT_EQ(at::get_num_threads(), 1); });
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(threads_of_a_new_thread(), 2);
  at::set_num_threads(before);
}

TEST(SourceTensor, PadsTheRowsOfABatch) {
  const std::vector<std::vector<int32_t>> sources{{5, 2}, {9}, {6, 7, 2}};
  const std::vector<int64_t> rows{2, 0};
  EXPECT_TRUE(torch::equal(source_tensor(sources, rows, torch::kCPU),
                           torch::tensor({{6, 7, 2}, {5, 2, 0}}, torch::kLong)));
}

}  // namespace
}  // namespace ablate::training
