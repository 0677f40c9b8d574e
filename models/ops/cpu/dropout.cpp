#include "models/kernel/residual_norm.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/cpu/run.h"

namespace ablate::models::ops::cpu {

torch::Tensor drop_rows(const torch::Tensor& x, const DropoutMask& mask) {
  auto output = torch::empty_like(x);
  const int64_t width = x.size(-1);
  with_type(x.scalar_type(), [&]<class T>(T) {
    at::parallel_for(0, x.numel() / width, grain(width), [&](int64_t begin, int64_t end) {
      kernel::drop({begin, end, width}, mask, pointer<const T>(x), pointer<T>(output));
    });
  });
  return output;
}

}  // namespace ablate::models::ops::cpu
