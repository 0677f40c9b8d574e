#include "models/kernel/cross_entropy.h"

#include "models/ops/cpu/backend.h"
#include "models/ops/cpu/run.h"

namespace ablate::models::ops::cpu {

void cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                            double smoothing, const torch::Tensor& losses) {
  with_type(logits.scalar_type(), [&]<class T>(T) {
    const kernel::CrossEntropy<T> arguments{.logits = pointer<T>(logits),
                                            .targets = target.const_data_ptr<int64_t>(),
                                            .vocabulary = logits.size(1),
                                            .smoothing = static_cast<float>(smoothing),
                                            .loss = losses[0].data_ptr<float>(),
                                            .nll = losses[1].data_ptr<float>()};
    at::parallel_for(0, logits.size(0), grain(logits.size(1)), [&](int64_t begin, int64_t end) {
      kernel::cross_entropy(begin, end, arguments);
    });
  });
}

}  // namespace ablate::models::ops::cpu
