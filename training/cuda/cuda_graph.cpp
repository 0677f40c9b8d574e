#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <memory>

#include "training/graphs/device_graph.h"

namespace ablate::training {
namespace {

/// All graphs of a process, of which one runs at a time, share the memory of what they compute,
/// and the stream, since the allocator gives memory of one stream to no other. LibTorch closes a
/// pool with its last graph, so that later graphs need another one.
struct Shared {
  c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
};

std::shared_ptr<const Shared> shared() {
  static std::weak_ptr<const Shared> last;
  auto one = last.lock();
  if (one == nullptr) last = one = std::make_shared<const Shared>();
  return one;
}

class CudaGraph final : public DeviceGraph {
 public:
  void warm_up(const Work& work) override {
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard on(shared_->stream);
    work();
    c10::cuda::device_synchronize();
  }

  void capture(const Work& work) override {
    TORCH_CHECK(
        c10::cuda::CUDACachingAllocator::name() == "native",
        "PYTORCH_CUDA_ALLOC_CONF chooses an allocator that graphs have not been tried with");
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard on(shared_->stream);
    // Threads that prepare batches go on, as only what this one and autograd's launch is recorded.
    graph_.capture_begin(shared_->pool, cudaStreamCaptureModeThreadLocal);
    try {
      work();
      graph_.capture_end();
    } catch (...) {
      abandon();
      throw;
    }
  }

  void replay() override { graph_.replay(); }

 private:
  /// Ends the recording. LibTorch stops halfway if CUDA has made it invalid: the allocator goes on
  /// to serve the pool, and the default generator refuses to draw until a recording succeeds.
  void abandon() {
    const auto succeeds = [](const auto& end) {
      try {
        end();
        return true;
      } catch (const std::exception&) {  // capture() throws the exception of the work itself
        return false;
      }
    };
    if (succeeds([&] { graph_.capture_end(); })) return;
    namespace allocator = c10::cuda::CUDACachingAllocator;
    succeeds([&] {
      allocator::endAllocateToPool(shared_->stream.device_index(), shared_->pool);
      allocator::releasePool(shared_->stream.device_index(), shared_->pool);
    });
    succeeds([] {
      at::cuda::CUDAGraph recording;
      recording.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
      at::zeros({1}, at::kCUDA);
      recording.capture_end();
    });
  }

  std::shared_ptr<const Shared> shared_ = shared();
  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace ablate::training

extern "C" __attribute__((visibility("default"))) ablate::training::MakeGraph ablate_make_graph;

ablate::training::DeviceGraph* ablate_make_graph() { return new ablate::training::CudaGraph; }
