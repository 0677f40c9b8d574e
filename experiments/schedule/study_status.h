#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/records/folders.h"
#include "experiments/schedule/slurm.h"

namespace ablate::schedule {

/// How one run stands.
struct RunStatus {
  std::string run;    // task/arm/seed-n
  std::string state;  // new, pending, running, started, finished, failed, blocked
  std::string where;  // the host, and the scheduler's job; empty before the first start
  std::string since;  // when it was started last, in UTC
  int64_t step = 0;   // the last that it logged
  int64_t steps = 0;  // that it is to make; 0: not known before it starts
  double loss = std::numeric_limits<double>::quiet_NaN();  // the last that it logged
  double step_age = -1;  // seconds since it did; -1: it has logged none
  int64_t restarts = 0;  // starts after the first
  std::string why;       // it failed, is blocked, was interrupted, or waits in the queue

  static void fields(auto& o, auto&& visit) {
    visit("run", o.run);
    visit("state", o.state);
    visit("where", o.where);
    visit("since", o.since);
    visit("step", o.step);
    visit("steps", o.steps);
    visit("loss", o.loss);
    visit("step_age", o.step_age);
    visit("restarts", o.restarts);
    visit("why", o.why);
  }
};

/// The runs of a study, those of candidates that `tune` tries included, as its folders and the
/// scheduler's queue tell. A new one is blocked where what it starts from has failed or is blocked.
std::vector<RunStatus> status_of(const config::Study& study, const records::StudyFolder& folder,
                                 const std::vector<QueuedJob>& queue);

}  // namespace ablate::schedule
