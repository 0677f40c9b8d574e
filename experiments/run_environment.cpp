#include "experiments/run_environment.h"

#include "training/checkpoint/durable_file.h"
#include "training/device.h"

namespace ablate::experiments {
namespace {

int64_t threads_of(const RunSpecification& run, const RunPlace& place) {
  if (run.experiment.training.threads) return *run.experiment.training.threads;
  const auto recorded = recorded_environment(place.folder);
  return recorded.is_object() ? recorded.value("threads", place.threads) : place.threads;
}

}  // namespace

Environment set_up(const RunSpecification& run, const RunPlace& place, std::ostream& messages) {
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

nlohmann::json recorded_environment(const RunFolder& folder) {
  const auto file = folder.environment();
  if (!std::filesystem::exists(file)) return nullptr;
  const auto json = nlohmann::json::parse(training::read_bytes(file), nullptr, false);
  return json.is_object() ? json : nlohmann::json();
}

}  // namespace ablate::experiments
