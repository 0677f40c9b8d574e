#include "experiments/run/run_job.h"

#include "experiments/config/study/crossed_seeds.h"
#include "models/random.h"

namespace ablate::run {
namespace {

uint64_t in_stream(int64_t seed, int64_t stream) {
  const auto plain = static_cast<uint64_t>(seed);
  return stream == 0 ? plain : models::derive_seed(plain, "stream", static_cast<uint64_t>(stream));
}

}  // namespace

uint64_t RunJob::initial_seed() const {
  return in_stream(config::pair_of(plan.seed, plan.crossed).initialization,
                   experiment.training.stream);
}

uint64_t RunJob::seed() const {
  return in_stream(config::pair_of(plan.seed, plan.crossed).order, experiment.training.stream);
}

RunJob job_of(const records::RunFolder& folder) {
  return {.folder = folder,
          .plan = records::read_plan(folder),
          .experiment = records::planned_experiment(folder)};
}

}  // namespace ablate::run
