#pragma once

namespace ablate::models::ops {

/// Teaches LibTorch's meta device the operators that a model needs there and that C++ has no kernel
/// for, since LibTorch's own are in Python. Without effect from the second call on.
void register_meta_kernels();

}  // namespace ablate::models::ops
