#include "experiments/run/environment.h"

#include <fmt/format.h>

#include "experiments/config/option.h"
#include "experiments/records/environment.h"
#include "models/mkl.h"
#include "training/device.h"

namespace ablate::run {
namespace {

int64_t threads_of(const RunJob& job) {
  if (job.experiment.training.threads) return *job.experiment.training.threads;
  const auto recorded = records::recorded_environment(job.folder);
  return recorded.is_object() ? recorded.value("threads", job.threads) : job.threads;
}

}  // namespace

Environment set_up(const RunJob& job, std::ostream& messages) {
  const auto& options = job.experiment.training;
  const auto device = training::resolve(options.device);
  models::allow_mkl_fast_path(options.mkl_fast_path);
  Environment environment{threads_of(job), device, options.precision,
                          models::mkl_takes_fast_path()};
  if (!training::has_products(options.precision, device)) {
    messages << fmt::format("this {} has no {} products: training in fp32\n",
                            device.is_cuda() ? "GPU" : "processor",
                            config::word_of(options.precision))
             << std::flush;
    environment.precision = training::Precision::fp32;
  }
  at::set_num_threads(static_cast<int>(environment.threads));
  return environment;
}

}  // namespace ablate::run
