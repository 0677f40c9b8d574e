#pragma once

#include <functional>

namespace ablate::training {

/// Work of a device that is recorded once and then launched as a whole, such as a CUDA graph.
class DeviceGraph {
 public:
  using Work = std::function<void()>;

  virtual ~DeviceGraph() = default;
  /// Does the work where capture() records it, and waits for it: what it needs at first, such as
  /// libraries and plans of kernels, cannot be had while it is recorded.
  virtual void warm_up(const Work& work) = 0;
  /// Records what `work` launches, without doing it: its tensors hold nothing until replay(). The
  /// work may not wait for the device, copy from or to the host, or make a generator. Throws
  /// c10::Error, and what `work` throws; then there is nothing to replay.
  virtual void capture(const Work& work) = 0;
  /// Does it again, in the same memory. REQUIRES: capture() has returned.
  virtual void replay() = 0;
};

constexpr const char* kMakeGraph = "ablate_make_graph";  // see cuda_function()
/// The type of kMakeGraph: a new graph of the current CUDA device, which the caller owns.
using MakeGraph = DeviceGraph*();

}  // namespace ablate::training
