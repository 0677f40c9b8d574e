#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include "training/graphs/device_graph.h"

namespace ablate::training {
namespace {

/// All graphs of a process, of which one runs at a time, share the memory of what they compute.
at::cuda::MempoolId_t shared_pool() {
  static const auto pool = at::cuda::graph_pool_handle();
  return pool;
}

class CudaGraph final : public DeviceGraph {
 public:
  void warm_up(const Work& work) override {
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard on(stream_);
    work();
    c10::cuda::device_synchronize();
  }

  void capture(const Work& work) override {
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard on(stream_);
    // Threads that prepare batches go on, as only what this one and autograd's launch is recorded.
    graph_.capture_begin(shared_pool(), cudaStreamCaptureModeThreadLocal);
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

  c10::cuda::CUDAStream stream_ = c10::cuda::getStreamFromPool();
  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace ablate::training

extern "C" __attribute__((visibility("default"))) ablate::training::MakeGraph ablate_make_graph;

ablate::training::DeviceGraph* ablate_make_graph() { return new ablate::training::CudaGraph; }
