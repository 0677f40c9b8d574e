#include "models/noise.h"

#include <bit>
#include <functional>
#include <numeric>
#include <utility>

namespace ablate::models {
namespace {

thread_local NoiseTape* playing = nullptr;

}  // namespace

torch::Tensor noise_tensor(const NoiseShape& shape, const Noise& noise, const DrawNoise& draw) {
  if (playing != nullptr) return playing->next(shape, noise, draw);
  auto tensor = torch::empty(shape.sizes, shape.options);
  if (!tensor.is_meta()) draw(tensor, noise.seed);
  return tensor;
}

torch::Tensor NoiseMemory::take(size_t number, const NoiseShape& shape) {
  if (number >= blocks_.size()) blocks_.resize(number + 1);
  auto& block = blocks_[number];
  const auto wanted =
      std::accumulate(shape.sizes.begin(), shape.sizes.end(), int64_t{1}, std::multiplies<>());
  // A tape that has the smaller block keeps it.
  if (!block.defined() || block.dtype() != shape.options.dtype() || block.numel() < wanted)
    block = torch::empty({static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted)))},
                         shape.options);
  return block.narrow(0, 0, wanted).view(shape.sizes);
}

NoiseTape::Playing::Playing(NoiseTape& tape) : before_(std::exchange(playing, &tape)) {
  tape.next_ = 0;
}

NoiseTape::Playing::~Playing() { playing = before_; }

torch::Tensor NoiseTape::next(const NoiseShape& shape, const Noise& noise, const DrawNoise& draw) {
  if (next_ == entries_.size()) {
    entries_.push_back({memory_.take(next_, shape), noise.at, draw});
    draw(entries_.back().tensor, noise.seed);
  }
  const auto& entry = entries_[next_++];
  TORCH_CHECK(entry.tensor.sizes() == torch::IntArrayRef(shape.sizes),
              "a pass draws other random numbers than the one before it");
  return entry.tensor;
}

void NoiseTape::draw(uint64_t pass) {
  const torch::NoGradGuard no_grad;
  for (auto& entry : entries_) entry.draw(entry.tensor, entry.at.seed_of(pass));
}

}  // namespace ablate::models
