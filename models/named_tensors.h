#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "models/libtorch.h"

namespace ablate::models {

/// A few tensors by name, in the order in which they came. A name is a literal.
class NamedTensors {
 public:
  /// The tensor of this name; null: there is none.
  torch::Tensor* find(std::string_view name) {
    for (auto& [known, tensor] : entries_)
      if (known == name) return &tensor;
    return nullptr;
  }
  /// The tensor of this name, which is undefined if there was none.
  torch::Tensor& operator[](std::string_view name) {
    if (auto* known = find(name)) return *known;
    return entries_.emplace_back(name, torch::Tensor()).second;
  }

  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string_view, torch::Tensor>> entries_;
};

}  // namespace ablate::models
