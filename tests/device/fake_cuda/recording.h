#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>
#include <unordered_set>
#include <vector>

namespace fake_cuda {

/// What the device was asked for during a capture, to be done again in the same memory. As with a
/// CUDA graph, only memory that was allocated meanwhile belongs to it: it is written over at the
/// end of the capture, and other memory does not change before a replay. Tensors that the
/// capture released leave their memory to other captures, as in a pool that graphs share.
class Recording {
 public:
  /// The one that is being made, by any thread; null: none.
  static Recording* now();

  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void begin();
  /// Spoils the results, which a CUDA graph has not computed yet.
  void end();
  /// Throws if memory from outside that it reads or writes is gone.
  void replay() const;

  /// Runs an operator and records it. Whatever it would write outside is left to the replay.
  void run(const c10::OperatorHandle& op, torch::jit::Stack& stack);
  /// Computes new tensors of the device from the views of others on the CPU; undefined tensors
  /// have undefined views.
  using Compute = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& views)>;
  std::vector<at::Tensor> compute(const std::vector<at::Tensor>& inputs, const Compute& compute);
  /// Writes to the first of these tensors, of which it gets the views.
  using Write = std::function<void(const std::vector<at::Tensor>& views)>;
  void write(const std::vector<at::Tensor>& tensors, const Write& write);

  void allocated(void* data) { own_.insert(data); }

 private:
  struct Outside {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
  };

  bool owns(const at::Tensor& tensor) const;
  /// A view on the CPU that does not keep the memory.
  at::Tensor view(const at::Tensor& tensor);
  c10::IValue view(const c10::IValue& value);

  std::vector<std::function<void()>> kernels_;
  std::vector<Outside> outside_;
  std::unordered_set<void*> own_;  // memory allocated during the capture
};

/// Throws, as CUDA does, if there is a capture.
void refuse_in_capture(const char* what);

/// Computes new tensors of the device as one kernel of this name: see Recording::compute().
std::vector<at::Tensor> launch(const char* name, const std::vector<at::Tensor>& inputs,
                               const Recording::Compute& compute);

}  // namespace fake_cuda
