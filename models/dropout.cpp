#include "models/dropout.h"

namespace ablate::models {

ops::DropoutStream Dropout::next() {
  return {.rate = rate_, .seed = kernel::mix(seed_ + ++streams_)};
}

torch::Tensor drop(const torch::Tensor& x, Dropout& dropout) {
  return dropout.rate() == 0 ? x : ops::dropout(x, dropout.next());
}

}  // namespace ablate::models
