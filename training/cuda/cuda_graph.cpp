#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include "training/graphs/device_graph.h"

namespace ablate::training {
namespace {

/// All graphs of a process, of which one runs at a time, share the memory of what they compute,
/// and the stream, since the allocator gives memory of one stream to no other.
struct Shared {
  c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
};

const Shared& shared() {
  static const Shared one;
  return one;
}

class CudaGraph final : public DeviceGraph {
 public:
  void warm_up(const Work& work) override {
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard on(shared().stream);
    work();
    c10::cuda::device_synchronize();
  }

  void capture(const Work& work) override {
    TORCH_CHECK(
        c10::cuda::CUDACachingAllocator::name() == "native",
        "PYTORCH_CUDA_ALLOC_CONF chooses an allocator that graphs have not been tried with");
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard on(shared().stream);
    // Threads that prepare batches go on, as only what this one and autograd's launch is recorded.
    graph_.capture_begin(shared().pool, cudaStreamCaptureModeThreadLocal);
    try {
      work();
    } catch (...) {
      abandon();
      throw;
    }
    graph_.capture_end();
  }

  void replay() override { graph_.replay(); }

 private:
  void abandon() {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {  // what has gone wrong is told by the work's own exception
    }
    graph_.reset();
  }

  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace ablate::training

extern "C" __attribute__((visibility("default"))) ablate::training::MakeGraph ablate_make_graph;

ablate::training::DeviceGraph* ablate_make_graph() { return new ablate::training::CudaGraph; }
