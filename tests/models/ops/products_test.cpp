#include "models/ops/products.h"

#include <ATen/ops/linalg_solve_triangular.h>
#include <gtest/gtest.h>

#include <utility>

#include "models/module.h"
#include "models/ops/meta_kernels.h"
#include "models/ops/short_convolution.h"

namespace ablate::models::ops {
namespace {

torch::Tensor trained(at::IntArrayRef sizes) { return torch::ones(sizes).requires_grad_(); }

TEST(Products, AreThoseOfEveryMatrixProductHoweverItIsWritten) {
  const auto x = torch::ones({2, 3, 4}), w = torch::ones({5, 4}), b = torch::ones({5});
  const ProductCount count;
  double before = 0;
  const auto since = [&] {
    return count.products().forward - std::exchange(before, count.products().forward);
  };
  torch::linear(x, w);
  EXPECT_EQ(since(), 2 * 3 * 4 * 5);
  torch::linear(x, w, b);
  EXPECT_EQ(since(), 2 * 3 * 4 * 5);
  x.matmul(x.transpose(1, 2));
  EXPECT_EQ(since(), 2 * 3 * 4 * 3);
  torch::einsum("btd,vd->btv", {x, w});
  EXPECT_EQ(since(), 2 * 3 * 4 * 5);
  w.mv(torch::ones({4}));
  EXPECT_EQ(since(), 5 * 4);
  x* x + x;
  EXPECT_EQ(since(), 0);
}

TEST(Products, OfATriangularSystemAreHalfThoseOfAMatrix) {
  const ProductCount count;
  at::linalg_solve_triangular(torch::eye(4), torch::ones({4, 6}), false);
  EXPECT_EQ(count.products().forward, 4 * 4 * 6 / 2);
}

TEST(Products, OfABackwardPassAreThoseOfOperandsWithAGradient) {
  const auto fixed = torch::ones({3, 4});
  const ProductCount count;
  fixed.mm(torch::ones({4, 5}));
  EXPECT_EQ(count.products().backward, 0);
  fixed.mm(trained({4, 5}));
  EXPECT_EQ(count.products().backward, 3 * 4 * 5);
  trained({3, 4}).mm(trained({4, 5}));
  EXPECT_EQ(count.products().backward, 3 * (3 * 4 * 5));
}

TEST(Products, OfAShortConvolutionAreOneForEachWeightAndPosition) {
  const ProductCount count;
  short_convolution(torch::ones({2, 3 + 6, 5}), trained({4, 5}), false);
  EXPECT_EQ(count.products().forward, 2 * 6 * 4 * 5);
  EXPECT_EQ(count.products().backward, 2 * 6 * 4 * 5);
}

TEST(Products, OfAPartAreItsShare) {
  const ProductCount count;
  {
    const PartOfProducts part(2, 6);
    torch::ones({3, 6}).mm(torch::ones({6, 5}));
  }
  EXPECT_EQ(count.products().forward, 3 * 2 * 5);
  torch::ones({3, 6}).mm(torch::ones({6, 5}));
  EXPECT_EQ(count.products().forward, 3 * 2 * 5 + 3 * 6 * 5);
}

TEST(Products, AreCountedOnlyWhileACountLives) {
  { const ProductCount count; }
  count_product(5, {});
  const PartOfProducts part(1, 2);
  const ProductCount count;
  EXPECT_EQ(count.products().forward, 0);
  EXPECT_THROW(ProductCount(), c10::Error);
}

class Map : public Module {
 public:
  Map()
      : weight(register_parameter("weight", {3, 4}, Constant{0}, Role::matrix)),
        numbers(register_buffer("numbers", torch::ones({2}))) {}
  torch::Tensor weight, numbers;
};

TEST(ShapesOnly, LastsAsLongAsItLives) {
  {
    const ShapesOnly shapes;
    const Map map;
    EXPECT_TRUE(map.weight.is_meta() && map.numbers.is_meta());
    EXPECT_EQ(map.weight.sizes(), (std::vector<int64_t>{3, 4}));
  }
  const Map map;
  EXPECT_TRUE(map.weight.is_cpu() && map.numbers.is_cpu());
}

// Against the same calls on the CPU.
TEST(MetaKernels, HaveTheShapesAndTypesOfTheirOperators) {
  register_meta_kernels();
  register_meta_kernels();
  const auto expect = [](const auto& call) {
    const auto all = [&](torch::Device device) {
      const auto x = torch::ones({3, 4}, device);
      return call(x, torch::zeros({2}, x.options().dtype(torch::kLong)));
    };
    const torch::Tensor here = all(torch::kCPU), there = all(torch::kMeta);
    EXPECT_EQ(there.sizes(), here.sizes());
    EXPECT_EQ(there.scalar_type(), here.scalar_type());
  };
  expect([](const auto& x, const auto& index) { return x.index_select(-1, index); });
  expect([](const auto& x, const auto& index) { return torch::embedding(x, index); });
  expect(
      [](const auto& x, const auto&) { return torch::where(x.gt(0), x, x[0].to(torch::kDouble)); });
  expect([](const auto& x, const auto&) { return x.gt(0).logical_not().logical_and(x[0].gt(0)); });
  expect([](const auto& x, const auto&) { return torch::searchsorted(x, x); });
  expect([](const auto& x, const auto&) { return at::log_sigmoid(x.abs().flip(0)); });
  expect([](const auto& x, const auto&) { return x.max(); });
  expect([](const auto& x, const auto&) {
    return torch::batch_norm(x.relu(), {}, {}, {}, {}, true, 0.1, 1e-5, false);
  });
}

}  // namespace
}  // namespace ablate::models::ops
