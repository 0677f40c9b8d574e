#include "training/ranks/rank_group.h"

// Only this file, key_file_store and training/cuda include c10d, whose headers move from version to
// version.
#include <c10/util/env.h>

#include <bit>
#include <cstdlib>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "models/hardware.h"
#include "training/cuda/nccl_group.h"
#include "training/cuda_library.h"
#include "training/device.h"
#include "training/ranks/key_file_store.h"

namespace ablate::training {
namespace {

constexpr std::chrono::milliseconds kLookForOthers{20};

using StorePointer = c10::intrusive_ptr<c10d::Store>;
using BackendPointer = c10::intrusive_ptr<c10d::Backend>;

/// LibTorch's message is followed by a stack trace.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// Turns exceptions of c10d into RankLost; DeviceError passes, and so does a lack of memory.
auto or_lost(const std::string& what, auto&& call) {
  try {
    return call();
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;
    throw RankLost(what + " (" + first_line(error) + ")");
  }
}

/// c10d also logs its exceptions with stack traces, unless this variable limits the log.
void quieten() {
  c10::utils::set_env("TORCH_CPP_LOG_LEVEL", "FATAL", /*overwrite=*/false);
  c10::initLogging();
}

StorePointer make_store(const RankPlace& place) {
  StorePointer store;
  if (!place.file.empty()) {
    store = c10::make_intrusive<KeyFileStore>(place.file);
  } else {
    c10d::TCPStoreOptions options;
    options.port = place.port;
    options.isServer = place.rank == 0 && !place.served;
    options.numWorkers = static_cast<size_t>(place.size);
    options.timeout = place.timeout;
    store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
  }
  store->setTimeout(place.timeout);
  return c10::make_intrusive<c10d::PrefixStore>("ablate/" + place.attempt, store);
}

/// Waits for all ranks, to name the one that does not come.
void meet(const StorePointer& store, const RankPlace& place) {
  const auto here = [](int64_t rank) { return "here/" + std::to_string(rank); };
  store->set(here(place.rank), std::vector<uint8_t>{1});
  const auto end = std::chrono::steady_clock::now() + place.timeout;
  for (int64_t rank = 0; rank < place.size; ++rank)
    while (!store->check({here(rank)})) {
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error("rank " + std::to_string(rank) + " did not come in time");
      std::this_thread::sleep_for(kLookForOthers);
    }
}

BackendPointer make_gloo(const StorePointer& store, int rank, const RankPlace& place) {
  auto options = c10d::ProcessGroupGloo::Options::create(place.timeout);
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr)
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
  else if (!place.file.empty())
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface("lo"));
  else
    options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
  options->threads = 1;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, 2, options);
}

/// Throws DeviceError if the part of the program for NCCL is missing or cannot be loaded.
MakeNcclGroup* load_nccl() {
  void* make = cuda_function(kMakeNcclGroup);
  if (make == nullptr)
    throw DeviceError(
        "this build of ablate has no NCCL, which connects the CUDA devices of ranks; use one rank "
        "or training.device: cpu, or build it with NCCL as docs/gpu.md says");
  return reinterpret_cast<MakeNcclGroup*>(make);
}

BackendPointer make_nccl(const StorePointer& store, int rank, const RankPlace& place) {
  return BackendPointer::reclaim(load_nccl()(store, rank, place.timeout));
}

/// Returns the result of `connect`, which runs in a separate thread. The thread is detached if a
/// rank is lost: if a rank has published its address and ended, Gloo waits until the timeout.
auto unless_lost(const RankPlace& place, auto connect) {
  const auto check = [&] {
    if (const auto lost = place.lost(); !lost.empty()) throw std::runtime_error(lost);
  };
  std::packaged_task<decltype(connect())()> task(std::move(connect));
  auto connected = task.get_future();
  std::thread(std::move(task)).detach();
  while (connected.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    check();
    std::this_thread::sleep_for(kLookForOthers);
  }
  try {
    return connected.get();
  } catch (const std::exception&) {
    check();  // names the lost rank instead of a refused connection
    throw;
  }
}

}  // namespace

/// A group of two for each level of the tree: this rank and its partner there.
struct RankGroup::Connection {
  torch::Device device;
  StorePointer store = {};
  std::vector<BackendPointer> levels = {};

  /// Waits for the others.
  static std::unique_ptr<Connection> make(const RankPlace& place, torch::Device device);
};

std::unique_ptr<RankGroup::Connection> RankGroup::Connection::make(const RankPlace& place,
                                                                   torch::Device device) {
  std::unique_ptr<Connection> made(new Connection{.device = device, .store = make_store(place)});
  meet(made->store, place);
  if (device.is_cuda()) refuse_shared_device(*made->store, place, models::cuda_device().uuid);
  for (int64_t bit = 1; bit < place.size; bit *= 2) {
    const auto pair = std::to_string(bit) + "/" + std::to_string(place.rank & ~bit);
    const StorePointer store = c10::make_intrusive<c10d::PrefixStore>(pair, made->store);
    const int rank = (place.rank & bit) == 0 ? 0 : 1;
    made->levels.push_back(device.is_cuda() ? make_nccl(store, rank, place)
                                            : make_gloo(store, rank, place));
  }
  return made;
}

void require_connection(torch::Device device) {
  if (device.is_cuda()) load_nccl();
}

void refuse_shared_device(c10d::Store& store, const RankPlace& place, const std::string& identity) {
  const auto key = [](int64_t rank) { return "device/" + std::to_string(rank); };
  store.set(key(place.rank), std::vector<uint8_t>(identity.begin(), identity.end()));
  for (int64_t rank = place.rank + 1; rank < place.size; ++rank) {
    const auto bytes = store.get(key(rank));
    if (std::string(bytes.begin(), bytes.end()) == identity)
      throw DeviceError("ranks " + std::to_string(place.rank) + " and " + std::to_string(rank) +
                        " have the same GPU; give each its own by srun --gpus-per-task=1 or "
                        "CUDA_VISIBLE_DEVICES, or use one rank");
  }
}

RankGroup::RankGroup() = default;

RankGroup::RankGroup(const RankPlace& place, torch::Device device)
    : rank_(place.rank), size_(place.size) {
  require_connection(device);
  quieten();
  auto kept = place;  // in a thread that may outlive the owner of `lost`
  kept.lost = nullptr;
  connection_ =
      or_lost("not all " + std::to_string(size_) + " ranks of this run could be reached", [&] {
        return unless_lost(place, [kept, device] { return Connection::make(kept, device); });
      });
}

RankGroup::~RankGroup() {
  if (!connection_ || std::uncaught_exceptions() > 0) return;  // others may wait, and NCCL aborts
  try {
    for (const auto& level : connection_->levels) level->shutdown();
  } catch (const std::exception&) {  // all work is done
  }
}

const RankGroup& RankGroup::alone() {
  static const RankGroup one;
  return one;
}

torch::Tensor RankGroup::sum(const torch::Tensor& part) const {
  if (size_ == 1) return part;
  return or_lost("another rank of this run ended or gave no answer", [&] {
    std::vector<torch::Tensor> sum{part.clone()};
    for (const auto& level : connection_->levels) level->allreduce(sum)->wait();
    return sum.front();
  });
}

void RankGroup::agree_on(int64_t number, const char* what) const {
  if (size_ == 1) return;
  auto own = torch::zeros({size_}, torch::TensorOptions(torch::kLong).device(connection_->device));
  own[rank_] = number;
  if (!sum(own).eq(number).all().item<bool>())
    throw RankLost("the ranks of this run found different " + std::string(what));
}

}  // namespace ablate::training
