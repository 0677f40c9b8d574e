#include "training/threads.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <system_error>

#include "models/libtorch.h"
#ifdef _OPENMP
#include <omp.h>
#endif

namespace ablate::training {
namespace {

constexpr std::chrono::milliseconds kLookAgain{500};

std::atomic<int> operation_threads = 1;

/// Whether a stop was asked for within that time.
bool stopped_within(std::stop_token stop, std::optional<std::chrono::milliseconds> time) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  const auto stopped = [&] { return stop.stop_requested(); };
  if (time) return never.wait_for(lock, stop, *time, stopped);
  never.wait(lock, stop, stopped);
  return true;
}

/// A team that has one thread more than the processors that the operations' threads leave. While a
/// process has more threads in teams than there are processors, libgomp's spin 1,000 times before
/// they sleep, and 300,000 times otherwise (gomp_throttled_spin_count_var).
void keep_idle_team(std::stop_token stop) {
#ifdef _OPENMP
  const int size = std::max(2, omp_get_num_procs() - operation_threads + 2);
  std::atomic<int> begun = 0;
#pragma omp parallel num_threads(size)
  ++begun;
#endif
  stopped_within(std::move(stop), {});
}

void watch(std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  std::optional<SleepingThreads> company;
  auto waited = waited_for_processor();
  auto looked = Clock::now();
  while (!stopped_within(stop, kLookAgain)) {
    const auto more = waited_for_processor();
    const auto now = Clock::now();
    const bool now_company = has_company(company.has_value(), more - waited, now - looked);
    if (now_company && !company) try {
        company.emplace();
      } catch (const std::system_error&) {
        return;  // no thread is to be had: spinning is slow, and wrong in nothing
      }
    if (!now_company) company.reset();
    waited = more;
    looked = now;
  }
}

/// A thread that runs `work` and leaves all signals to the others.
std::jthread quiet_thread(void (*work)(std::stop_token)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

void use_threads(int64_t count) {
  operation_threads = static_cast<int>(count);
  at::set_num_threads(operation_threads);
  if (count == 1) return;
  static const std::jthread watched = quiet_thread(watch);
}

std::chrono::nanoseconds waited_for_processor() {
  int64_t sum = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream file(task.path() / "schedstat");
    int64_t ran = 0, waited = 0;
    if (file >> ran >> waited) sum += waited;
  }
  return std::chrono::nanoseconds(sum);
}

bool has_company(bool before, std::chrono::nanoseconds waited, std::chrono::nanoseconds passed) {
  return waited * (before ? 50 : 20) > passed;
}

SleepingThreads::SleepingThreads() : idle_team_(quiet_thread(keep_idle_team)) {}

}  // namespace ablate::training
