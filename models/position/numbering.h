#pragma once

#include "models/dropout.h"
#include "models/libtorch.h"
#include "models/position/numbering_options.h"

namespace ablate::models {

/// Gives the places of a sequence the numbers that a position scheme knows them by.
class Numbering : public torch::nn::Module {
 public:
  explicit Numbering(const NumberingOptions& options);

  /// Numbers of the places 0, 1, 2, ...; increasing. A training pass draws them from its own stream
  /// of random numbers, where they are drawn at all. // [T] -> [T]
  torch::Tensor operator()(const torch::Tensor& places, Dropout& pass) const;
  /// Throws LengthError, with both lengths, where there are fewer than `length` numbers.
  void check(int64_t length, const Dropout& pass) const;

 private:
  int64_t range_ = 0;     // 0: places are their own numbers
  torch::Tensor chosen_;  // of evaluation // [longest]
};

}  // namespace ablate::models
