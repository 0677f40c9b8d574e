#include "training/inference/length_batches.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "data/batch.h"

namespace ablate::training {
namespace {

/// LibTorch keeps the last number of threads that any thread has set for those made later.
class ThreadCountGuard {
 public:
  ThreadCountGuard() : count_(at::get_num_threads()) {}
  ~ThreadCountGuard() { at::set_num_threads(count_); }
  ThreadCountGuard(const ThreadCountGuard&) = delete;
  ThreadCountGuard& operator=(const ThreadCountGuard&) = delete;

 private:
  int count_;
};

}  // namespace

std::vector<std::vector<int64_t>> batches_by_length(std::span<const size_t> lengths, int64_t rows) {
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](int64_t row) { return lengths[static_cast<size_t>(row)]; });
  std::vector<std::vector<int64_t>> batches;
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end = begin + std::min<std::ptrdiff_t>(rows, order.end() - begin);
    batches.emplace_back(begin, end);
    begin = end;
  }
  return batches;
}

void in_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& work) {
  if (jobs <= 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  const ThreadCountGuard guard;
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    at::set_num_threads(1);
    for (size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = count;
      }
  };
  std::vector<std::jthread> threads;
  try {
    while (std::ssize(threads) + 1 < jobs) threads.emplace_back(run);
  } catch (const std::system_error&) {  // no more threads are to be had, so fewer share the work
  }
  run();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

torch::Tensor source_tensor(std::span<const std::vector<int32_t>> sources,
                            std::span<const int64_t> rows, torch::Device device) {
  auto batch = data::collate_sources(sources, rows);
  return torch::tensor(batch.ids, torch::kLong).view({batch.rows, batch.length}).to(device);
}

}  // namespace ablate::training
