#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/libtorch.h"
#include "models/random.h"

namespace ablate::models {

/// The random numbers of a site in one pass: a function of the seed.
struct Noise {
  uint64_t seed = 0;
  NoiseSite at = {};  // where the seed comes from, by which a NoiseTape draws for another pass
};

/// Fills a tensor by a seed.
using DrawNoise = std::function<void(torch::Tensor& tensor, uint64_t seed)>;

/// What a random tensor looks like.
struct NoiseShape {
  std::vector<int64_t> sizes;
  torch::TensorOptions options;
};

/// A random tensor: a new one, or while a tape plays in this thread the tape's.
torch::Tensor noise_tensor(const NoiseShape& shape, const Noise& noise, const DrawNoise& draw);

/// Memory of random tensors that several tapes share, of which one plays at a time.
class NoiseMemory {
 public:
  torch::Tensor take(size_t number, const NoiseShape& shape);

 private:
  std::vector<torch::Tensor> blocks_;  // [at least as large as asked for]
};

/// The random tensors of a pass. They keep their memory from one repetition of the pass to the next
/// and are drawn before it begins, as a CUDA graph needs: no generator can be made inside of one.
class NoiseTape {
 public:
  /// `memory` must outlive the tape.
  explicit NoiseTape(NoiseMemory& memory) : memory_(memory) {}

  /// While one lives, noise_tensor() of this thread gives the tape's tensors in the order of the
  /// first pass, which draws them.
  class Playing {
   public:
    explicit Playing(NoiseTape& tape);
    ~Playing();
    Playing(const Playing&) = delete;
    Playing& operator=(const Playing&) = delete;

   private:
    NoiseTape* before_;
  };

  /// Draws all tensors for the pass of this seed (ForwardContext::seed): the same numbers as in a
  /// pass without a tape.
  void draw(uint64_t pass);

 private:
  friend torch::Tensor noise_tensor(const NoiseShape&, const Noise&, const DrawNoise&);
  struct Entry {
    torch::Tensor tensor;
    NoiseSite at;
    DrawNoise draw;
  };

  torch::Tensor next(const NoiseShape& shape, const Noise& noise, const DrawNoise& draw);

  NoiseMemory& memory_;
  std::vector<Entry> entries_;
  size_t next_ = 0;
};

}  // namespace ablate::models
