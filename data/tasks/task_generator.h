#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/random.h"

namespace ablate::data {

/// How one task makes examples; everything else (disjointness, sizes, naming) is shared.
struct TaskGenerator {
  std::function<int64_t(Random&)> draw_length;      // a trained one
  std::function<Example(Random&, int64_t)> sample;  // of exactly this length
  std::vector<int64_t> test_lengths;
  int64_t longest_trained;
  std::string (*test_name)(int64_t length);
  Sizes sizes;
};

}  // namespace ablate::data
