#pragma once
// These headers declare the names that <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp> mentions
// and that the torch wheel does not bring. What they declare is defined in libtorch_cpu.so.
