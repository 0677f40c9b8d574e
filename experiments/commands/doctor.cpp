#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/commands/commands.h"
#include "experiments/config/schema/option.h"
#include "experiments/records/folders.h"
#include "models/hardware.h"
#include "models/libtorch.h"
#include "options/enumeration.h"
#include "training/device.h"
#include "training/process/libtorch_version.h"
#include "training/process/machine.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

ABLATE_ENUM(Health, ok, warn, fail);

/// One thing that runs need.
struct Finding {
  std::string name;
  Health health;
  std::string detail;
  std::string remedy;  // "" if there is no problem
};

constexpr double kGigabyte = 1e9;

Finding good(const std::string& name, const std::string& detail) {
  return {name, Health::ok, detail, ""};
}

/// A good finding, or a warning with its remedy.
Finding checked(const std::string& name, bool is_good, const std::string& detail,
                const std::string& remedy) {
  return is_good ? good(name, detail) : Finding{name, Health::warn, detail, remedy};
}

Finding libtorch() {
  const bool known =
      TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 11);
  return checked("LibTorch", known, training::to_text(training::loaded_libtorch()),
                 "2.11 to 2.15 are tested; make setup brings 2.13.0");
}

Finding processor() {
  return good("processor", fmt::format("LibTorch uses {} here", at::get_cpu_capability()));
}

Finding bfloat16() {
  const bool has = training::has_products(training::Precision::bf16, torch::kCPU);
  return checked("bf16 on the CPU", has, has ? "in hardware (AVX-512 BF16)" : "none",
                 "training.precision: bf16 trains in fp32 on this processor, at half the speed");
}

Finding cores() {
  const auto count = training::available_cores();
  const int threads = at::get_num_threads();
  return checked("cores", threads <= count,
                 fmt::format("{} for this process, {} thread{} in LibTorch", count, threads,
                             threads == 1 ? "" : "s"),
                 "more threads than cores slow each other down; unset OMP_NUM_THREADS");
}

Finding cuda() {
  const auto devices = training::gpu_count();
  if (devices == 0)
    return good("CUDA", "none; everything runs on the CPU: " + training::why_no_cuda());
  return good("CUDA", fmt::format("{} device{}; the first is {}", devices, devices == 1 ? "" : "s",
                                  models::cuda_device().name));
}

Finding memory() {
  const auto bytes = static_cast<double>(training::available_memory());
  return checked("memory", bytes >= kGigabyte, fmt::format("{:.1f} GB free", bytes / kGigabyte),
                 "close other programs, or lower --jobs and training.tokens_per_batch");
}

Finding file_limits() {
  rlimit open_files{}, size{};
  getrlimit(RLIMIT_NOFILE, &open_files);
  getrlimit(RLIMIT_FSIZE, &size);
  if (size.rlim_cur != RLIM_INFINITY)
    return {"limits", Health::warn,
            fmt::format("no file may be larger than {:.1f} GB",
                        static_cast<double>(size.rlim_cur) / kGigabyte),
            "ulimit -f unlimited"};
  constexpr rlim_t kFewest = 256;
  return checked("limits", open_files.rlim_cur >= kFewest,
                 open_files.rlim_cur == RLIM_INFINITY
                     ? "any number of open files"
                     : fmt::format("{} open files", open_files.rlim_cur),
                 "ulimit -n 1024");
}

std::filesystem::path nearest_that_exists(std::filesystem::path folder) {
  folder = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(folder) && folder != folder.parent_path())
    folder = folder.parent_path();
  return folder;
}

Finding free_space(const std::filesystem::path& folder) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0)
    return {"disk", Health::fail, "cannot examine " + folder.string(), "choose another --output"};
  const double bytes = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  const auto detail = fmt::format("{:.1f} GB free in {}", bytes / kGigabyte, folder.string());
  const std::string remedy = "free some space, or choose another --output";
  if (bytes < kGigabyte / 10) return {"disk", Health::fail, detail, remedy};
  return checked("disk", bytes >= kGigabyte, detail, remedy);
}

/// Writes, syncs and removes a file, as every checkpoint does.
Finding durable_write(const std::filesystem::path& folder) {
  const auto file = folder / fmt::format(".ablate-doctor-{}", ::getpid());
  const auto start = std::chrono::steady_clock::now();
  try {
    training::write_durably(file, "ablate");
  } catch (const training::IoError& error) {
    return {"writing", Health::fail, error.what(), "choose an --output that can be written"};
  }
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::filesystem::remove(file);
  constexpr double kSlow = 500;
  return checked("writing", time.count() < kSlow,
                 fmt::format("a file is safe on disk after {:.1f} ms", time.count()),
                 "checkpoints are slow here; choose a local --output or raise training.save_every");
}

int add_library_name(dl_phdr_info* library, size_t, void* names) {
  static_cast<std::vector<std::string>*>(names)->push_back(
      std::filesystem::path(library->dlpi_name).filename().string());
  return 0;
}

/// A shared SentencePiece or protobuf clashes with LibTorch's own symbols and makes exported models
/// hang.
Finding shared_symbols() {
  std::vector<std::string> libraries;
  ::dl_iterate_phdr(add_library_name, &libraries);
  for (const auto& library : libraries)
    for (const auto* foreign : {"libsentencepiece", "libprotobuf", "libglog", "libgflags"})
      if (library.starts_with(foreign))
        return {"symbols", Health::fail, library + " is loaded beside LibTorch and clashes with it",
                "unset LD_PRELOAD, and build with the static SentencePiece of make setup"};
  return good("symbols", "no library clashes with LibTorch");
}

/// Checks LibTorch, the processor, the GPU, memory, limits, and the disk of `output`, on which it
/// writes and removes a small file.
std::vector<Finding> examine(const std::filesystem::path& output) {
  const auto folder = nearest_that_exists(output);
  return {libtorch(),
          processor(),
          bfloat16(),
          cores(),
          cuda(),
          memory(),
          free_space(folder),
          durable_write(folder),
          file_limits(),
          good("SentencePiece", ABLATE_SENTENCEPIECE),
          shared_symbols()};
}

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const auto& finding : findings) {
    text += fmt::format("{:<5} {:<16} {}\n", config::word_of(finding.health), finding.name,
                        finding.detail);
    if (!finding.remedy.empty()) text += fmt::format("{:<22} {}\n", "", finding.remedy);
  }
  return text;
}

std::string to_json_text(const std::vector<Finding>& findings) {
  auto list = nlohmann::json::array();
  for (const auto& finding : findings)
    list.push_back({{"name", finding.name},
                    {"health", config::word_of(finding.health)},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy}});
  return training::json_file(list);
}

struct DoctorRequest {
  std::string output = records::kDefaultOutput;
  bool json = false;
};

void doctor(const DoctorRequest& request) {
  const auto findings = examine(request.output);
  std::cout << (request.json ? to_json_text(findings) : to_text(findings));
  const auto failed = std::ranges::count(findings, Health::fail, &Finding::health);
  if (failed > 0)
    throw std::runtime_error("this machine cannot run a study; see the failed checks");
}

}  // namespace

void add_doctor(CLI::App& app) {
  auto request = std::make_shared<DoctorRequest>();
  auto* verb = app.add_subcommand("doctor", "Check that this machine can run studies");
  verb->add_option("--output", request->output, "Folder that runs would be written to")
      ->capture_default_str();
  verb->add_flag("--json", request->json, "Print one JSON list");
  verb->footer("Examples:\n  ablate doctor\n  ablate doctor --output runs --json");
  verb->callback([request] { doctor(*request); });
}

}  // namespace ablate::commands
