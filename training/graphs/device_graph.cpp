#include "training/graphs/device_graph.h"

#include "training/cuda_library.h"

namespace ablate::training {

MakeGraph* graph_maker() { return reinterpret_cast<MakeGraph*>(cuda_function(kMakeGraph)); }

}  // namespace ablate::training
