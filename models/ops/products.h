#pragma once

#include <initializer_list>

#include "models/libtorch.h"

namespace ablate::models::ops {

/// Multiplications of matrix products: of the products themselves, and of the gradients that a
/// backward pass computes of their operands, each of which takes as many as its product.
struct Products {
  double forward = 0, backward = 0;
};

/// While it lives, counts the matrix products that LibTorch computes on this thread, on any device,
/// its meta device included: of an [N, M] matrix with an [M, K] one N M K. What computes a product
/// without LibTorch's says it by count_product(). REQUIRES: no other one lives on this thread.
class ProductCount {
 public:
  ProductCount();
  ~ProductCount();
  ProductCount(const ProductCount&) = delete;
  ProductCount& operator=(const ProductCount&) = delete;

  const Products& products() const { return products_; }

 private:
  friend class PartOfProducts;
  friend void count_product(double, std::initializer_list<torch::Tensor>);

  Products products_;
  int64_t used_ = 1, computed_ = 1;
  uint64_t callback_;
};

/// Counts a product of `size` multiplications of these operands.
void count_product(double size, std::initializer_list<torch::Tensor> operands);

/// While it lives, of products only the part `used` / `computed` counts: of all keys those in a
/// window, of all experts those that are chosen.
class PartOfProducts {
 public:
  PartOfProducts(int64_t used, int64_t computed);
  ~PartOfProducts();
  PartOfProducts(const PartOfProducts&) = delete;
  PartOfProducts& operator=(const PartOfProducts&) = delete;

 private:
  ProductCount* count_;
  int64_t used_, computed_;
};

}  // namespace ablate::models::ops
