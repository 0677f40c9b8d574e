#include "experiments/schedule/supervise.h"

#include <utility>

#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/schedule/attempts.h"
#include "experiments/schedule/process_pool.h"
#include "training/process/interrupt.h"
#include "training/process/progress.h"

namespace ablate::schedule {
namespace {

constexpr std::chrono::milliseconds kLookForStops{200};

/// Waits for the one process of the pool and says how it ended.
Attempts::End follow(ProcessPool& pool, Attempts& attempts, std::ostream& messages) {
  for (bool asked = false;;) {
    if (training::stop_requested()) {
      if (!std::exchange(asked, true)) messages << "asked to stop\n" << std::flush;
      pool.stop();
    }
    for (const auto& event : pool.wait(kLookForStops)) {
      if (const auto* end = std::get_if<ProcessEnd>(&event)) return attempts.end(end->exit_code);
      const auto& line = std::get<ProcessLine>(event).text;
      if (training::read_record(line)) continue;
      attempts.hear(line);
      messages << line + "\n" << std::flush;
    }
  }
}

}  // namespace

void supervise(const records::RunFolder& folder, const Worker& worker, int64_t retries,
               std::ostream& messages) {
  const training::StopRequests requests;
  const auto before = records::read_failure(folder);
  Attempts attempts(folder, {.retries = retries, .made = before ? before->attempts : 0});
  for (;;) {
    ProcessPool pool;
    pool.start(0, attempts.begin(worker));
    switch (follow(pool, attempts, messages)) {
      case Attempts::End::finished:
        return;
      case Attempts::End::interrupted:
        throw training::Interrupted("interrupted and saved in " + folder.path.string());
      case Attempts::End::failed:
        throw RunsFailed(meaning_of(attempts.exit_code()),
                         folder.path.string() + " failed with " + attempts.reason(true));
      case Attempts::End::crashed:
        messages << "starting again after " + attempts.reason(true) + "\n" << std::flush;
    }
  }
}

}  // namespace ablate::schedule
