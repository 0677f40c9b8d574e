#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace ablate::training {

/// Sets how many threads share an operation from now on, in the whole process.
///
/// A thread of OpenMP that waits for another spins, which is fastest where each has a processor to
/// itself. Where other processes want the processors, too, it holds up the very thread that it
/// waits for, and a step takes three times as long. So from here on the process is watched, and
/// such threads sleep while it has company.
void use_threads(int64_t count);

/// How long the threads of this process were ready to run but had no processor, in all; 0 where the
/// kernel does not tell.
std::chrono::nanoseconds waited_for_processor();

/// Whether a process has company whose threads have `waited` for a processor while time `passed`:
/// from a twentieth of the time on and, having had it `before`, down to a fiftieth.
bool has_company(bool before, std::chrono::nanoseconds waited, std::chrono::nanoseconds passed);

/// While one lives, OpenMP's threads of the process sleep almost at once where they have to wait.
class SleepingThreads {
 public:
  SleepingThreads();

 private:
  std::jthread idle_team_;
};

}  // namespace ablate::training
