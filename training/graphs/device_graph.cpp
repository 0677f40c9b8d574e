#include "training/graphs/device_graph.h"

#include "training/cuda_library.h"

namespace ablate::training {

std::unique_ptr<DeviceGraph> make_device_graph() {
  void* make = cuda_function(kMakeGraph);
  if (make == nullptr) return nullptr;
  return std::unique_ptr<DeviceGraph>(reinterpret_cast<MakeGraph*>(make)());
}

}  // namespace ablate::training
