#include "experiments/run/environment.h"

#include "experiments/records/environment.h"
#include "training/device.h"

namespace ablate::run {
namespace {

int64_t threads_of(const config::RunSpecification& run, const RunPlace& place) {
  if (run.experiment.training.threads) return *run.experiment.training.threads;
  const auto recorded = records::recorded_environment(place.folder);
  return recorded.is_object() ? recorded.value("threads", place.threads) : place.threads;
}

}  // namespace

Environment set_up(const config::RunSpecification& run, const RunPlace& place,
                   std::ostream& messages) {
  const auto& options = run.experiment.training;
  const auto device = training::resolve(options.device);
  const bool wanted = options.precision == training::Precision::bf16;
  const Environment environment{threads_of(run, place), device,
                                wanted && training::has_bfloat16(device)};
  if (wanted && !environment.bfloat16)
    messages << "this machine has no bfloat16 products: training in fp32\n" << std::flush;
  at::set_num_threads(static_cast<int>(environment.threads));
  return environment;
}

}  // namespace ablate::run
