#include "experiments/run/recorded_start.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <ctime>

#include "models/hardware.h"
#include "tokenizer/text/digest.h"
#include "training/checkpoint/checkpoint.h"
#include "training/process/libtorch_version.h"
#include "training/process/machine.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::run {

extern const char kCommit[];  // cmake/commit.cmake writes it

namespace {

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// Some containers hide the driver's own version.
std::string driver_version() {
  const auto version = training::gpu_driver();
  const int cuda = models::cuda_device().newest_cuda;
  if (!version.empty() || cuda == 0) return version;
  return fmt::format("of CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
}

int64_t last_saved_step(const records::RunFolder& folder) {
  const auto checkpoints = training::list_checkpoints(folder.checkpoints());
  return checkpoints.empty() ? 0 : checkpoints.back().step;
}

}  // namespace

records::RunStart start_on(const torch::Device& device) {
  return {.began = utc_now(),
          .host = training::host_name(),
          .processor = training::processor_name(),
          .cpu_capability = at::get_cpu_capability(),
          .gpu = device.is_cuda() ? models::cuda_device().name : "",
          .driver = device.is_cuda() ? driver_version() : "",
          .libtorch = training::to_text(training::loaded_libtorch()),
          .libtorch_built = TORCH_VERSION,
          .program_sha256 = training::program_sha256(),
          .commit = kCommit,
          .job = training::scheduler_job()};
}

RecordedStart::RecordedStart(records::RunFolder folder, nlohmann::json facts,
                             records::RunStart start, const training::FolderClaim& owner)
    : owner_(owner),
      folder_(std::move(folder)),
      facts_(std::move(facts)),
      starts_(records::read_starts(folder_)) {
  start.from_step = start.to_step = last_saved_step(folder_);
  starts_.push_back(std::move(start));
  write();
}

RecordedStart::~RecordedStart() {
  try {
    starts_.back().to_step = last_saved_step(folder_);
    starts_.back().ended = true;
    write();
  } catch (const std::exception&) {
    return;  // then the start looks like one whose process was lost, which costs no result
  }
}

void RecordedStart::write() const {
  owner_.check();
  auto record = facts_;
  record["starts"] = nlohmann::json::array();
  for (const auto& start : starts_) record["starts"].push_back(training::to_json(start));
  training::write_durably(folder_.environment(), training::sealed_json(record));
}

namespace {

constexpr size_t kDigestLength = 16;

}  // namespace

records::InitialWeights initial_weights_of(const torch::nn::Module& model) {
  records::InitialWeights weights;
  for (const auto& item : model.named_parameters()) {
    const auto values = item.value().detach().cpu().contiguous();
    tokenizer::Digest digest;
    digest.add(fmt::format("{} {}\n", item.key(), fmt::join(values.sizes(), " ")));
    digest.add({static_cast<const char*>(values.const_data_ptr()), values.nbytes()});
    weights[digest.sha256().substr(0, kDigestLength)] = values.numel();
  }
  return weights;
}

}  // namespace ablate::run
