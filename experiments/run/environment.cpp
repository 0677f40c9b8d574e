#include "experiments/run/environment.h"

#include <torch/version.h>

#include "experiments/records/environment.h"
#include "training/device.h"
#include "training/process/machine.h"
#include "training/storage/host_name.h"

namespace ablate::run {
namespace {

int64_t threads_of(const RunJob& job) {
  if (job.experiment.training.threads) return *job.experiment.training.threads;
  const auto recorded = records::recorded_environment(job.folder);
  return recorded.is_object() ? recorded.value("threads", job.threads) : job.threads;
}

}  // namespace

nlohmann::json record_of_maker() {
  return {{"ablate", ABLATE_VERSION},
          {"program_sha256", training::program_sha256()},
          {"libtorch", TORCH_VERSION},
          {"host", training::host_name()},
          {"processor", training::processor_name()},
          {"cpu_capability", at::get_cpu_capability()}};
}

Environment set_up(const RunJob& job, std::ostream& messages) {
  const auto& options = job.experiment.training;
  const auto device = training::resolve(options.device);
  const bool wanted = options.precision == training::Precision::bf16;
  const Environment environment{threads_of(job), device, wanted && training::has_bfloat16(device)};
  if (wanted && !environment.bfloat16)
    messages << "this machine has no bfloat16 products: training in fp32\n" << std::flush;
  at::set_num_threads(static_cast<int>(environment.threads));
  return environment;
}

}  // namespace ablate::run
