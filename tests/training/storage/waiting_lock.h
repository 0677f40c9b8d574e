#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <thread>

namespace ablate {

/// Whether a thread of the process waits for the lock of a file, by what the kernel lists.
inline bool waits_for_a_lock(pid_t id = getpid()) {
  const auto process = " " + std::to_string(id) + " ";
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);)
    if (line.find("->") != std::string::npos && line.find(process) != std::string::npos)
      return true;
  return false;
}

/// Returns once `task` waits for a lock, or has ended without waiting for one.
template <class Result>
void await_waiting(const std::future<Result>& task) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!waits_for_a_lock() &&
         task.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nobody waits for a lock";
    std::this_thread::yield();
  }
}

}  // namespace ablate
