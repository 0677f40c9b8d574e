#include "models/ops/doubly_stochastic.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "models/ops/backend.h"

namespace ablate::models::ops {
namespace {

constexpr int kRounds = 20;

/// Keeps columns and rows of numbers that are far below the largest from sums of 0.
constexpr float kLeast = std::numeric_limits<float>::min();

torch::Tensor by_operators(const torch::Tensor& logits) {
  auto matrix =
      (logits - logits.amax(at::IntArrayRef{-2, -1}, /*keepdim=*/true)).exp().clamp_min(kLeast);
  for (int i = 0; i < kRounds; ++i) {
    matrix = matrix / matrix.sum(-2, /*keepdim=*/true);
    matrix = matrix / matrix.sum(-1, /*keepdim=*/true);
  }
  return matrix;
}

constexpr int64_t kLanes = 16;  // matrices that are computed beside each other
using Lanes = std::array<float, kLanes>;

/// Up to kLanes matrices with n rows and n columns: numbers_[i] holds element i of each matrix.
class MatrixBlock {
 public:
  MatrixBlock(int64_t n, int64_t count)
      : n_(n), count_(count), numbers_(static_cast<size_t>(n * n)) {}

  void read(const float* matrices) {
    for (size_t i = 0; i < numbers_.size(); ++i)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        numbers_[i][lane] =
            matrices[std::min(lane, count_ - 1) * n_ * n_ + static_cast<int64_t>(i)];
  }
  void write(float* matrices) const {
    for (size_t i = 0; i < numbers_.size(); ++i)
      for (int64_t lane = 0; lane < count_; ++lane)
        matrices[lane * n_ * n_ + static_cast<int64_t>(i)] = numbers_[i][lane];
  }

  Lanes& at(int64_t line, int64_t place, bool is_row) {
    return numbers_[static_cast<size_t>(is_row ? line * n_ + place : place * n_ + line)];
  }
  std::vector<Lanes>& numbers() { return numbers_; }
  int64_t size() const { return n_; }

 private:
  int64_t n_, count_;
  std::vector<Lanes> numbers_;
};

void exponentiate(MatrixBlock& block) {
  Lanes most = block.numbers()[0];
  for (const auto& number : block.numbers())
    for (int64_t lane = 0; lane < kLanes; ++lane) most[lane] = std::max(most[lane], number[lane]);
  for (auto& number : block.numbers())
    for (int64_t lane = 0; lane < kLanes; ++lane)
      number[lane] = std::max(std::exp(number[lane] - most[lane]), kLeast);
}

/// Divides the rows, or the columns, by their sums, which it returns. // [N]
void normalize(MatrixBlock& block, bool rows, Lanes* sums) {
  for (int64_t line = 0; line < block.size(); ++line) {
    Lanes sum{};
    for (int64_t place = 0; place < block.size(); ++place)
      for (int64_t lane = 0; lane < kLanes; ++lane) sum[lane] += block.at(line, place, rows)[lane];
    for (int64_t place = 0; place < block.size(); ++place)
      for (int64_t lane = 0; lane < kLanes; ++lane) block.at(line, place, rows)[lane] /= sum[lane];
    sums[line] = sum;
  }
}

/// The way back: the block as it was, and the gradient by it.
void normalize_back(MatrixBlock& block, MatrixBlock& gradient, bool rows, const Lanes* sums) {
  for (int64_t line = 0; line < block.size(); ++line) {
    Lanes common{};
    for (int64_t place = 0; place < block.size(); ++place)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        common[lane] += gradient.at(line, place, rows)[lane] * block.at(line, place, rows)[lane];
    for (int64_t place = 0; place < block.size(); ++place) {
      auto &of = gradient.at(line, place, rows), &number = block.at(line, place, rows);
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        of[lane] = (of[lane] - common[lane]) / sums[line][lane];
        number[lane] *= sums[line][lane];
      }
    }
  }
}

/// The sums of all rounds, columns and rows by turns. // [2 rounds, N]
std::vector<Lanes> balance(MatrixBlock& block) {
  const auto n = block.size();
  std::vector<Lanes> sums(static_cast<size_t>(2 * kRounds * n));
  for (int half = 0; half < 2 * kRounds; ++half)
    normalize(block, half % 2 == 1, sums.data() + half * n);
  return sums;
}

void balance_back(MatrixBlock& block, MatrixBlock& gradient, const std::vector<Lanes>& sums) {
  for (int half = 2 * kRounds - 1; half >= 0; --half)
    normalize_back(block, gradient, half % 2 == 1, sums.data() + half * block.size());
}

/// Calls `compute` with the first matrix and the number of those of every block.
template <class Compute>
void for_each_block(const torch::Tensor& logits, const Compute& compute) {
  const int64_t n = logits.size(-1), all = logits.numel() / (n * n);
  at::parallel_for(0, (all + kLanes - 1) / kLanes, 16, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * kLanes; at < std::min(end * kLanes, all); at += kLanes)
      compute(at, std::min(kLanes, all - at));
  });
}

torch::Tensor by_blocks(const torch::Tensor& logits) {
  auto y = torch::empty_like(logits);
  const int64_t n = logits.size(-1);
  const auto* from = logits.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  for_each_block(logits, [&](int64_t first, int64_t count) {
    MatrixBlock block(n, count);
    block.read(from + first * n * n);
    exponentiate(block);
    balance(block);
    block.write(to + first * n * n);
  });
  return y;
}

/// Its gradient computes the rounds once more instead of keeping them.
struct BalanceMatrices : torch::autograd::Function<BalanceMatrices> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& logits) {
    context->save_for_backward({logits});
    return by_blocks(logits);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    refuse_second_derivative("the doubly stochastic matrix");
    const auto logits = context->get_saved_variables()[0], of_y = gradients[0].contiguous();
    auto of_logits = torch::empty_like(logits);
    const int64_t n = logits.size(-1);
    const auto *from = logits.const_data_ptr<float>(), *of = of_y.const_data_ptr<float>();
    auto* to = of_logits.mutable_data_ptr<float>();
    for_each_block(logits, [&](int64_t first, int64_t count) {
      MatrixBlock block(n, count), gradient(n, count);
      block.read(from + first * n * n);
      gradient.read(of + first * n * n);
      exponentiate(block);
      const auto sums = balance(block);
      balance_back(block, gradient, sums);
      for (size_t i = 0; i < block.numbers().size(); ++i)
        for (int64_t lane = 0; lane < kLanes; ++lane)
          gradient.numbers()[i][lane] *= block.numbers()[i][lane];
      gradient.write(to + first * n * n);
    });
    return {of_logits};
  }
};

}  // namespace

torch::Tensor doubly_stochastic(const torch::Tensor& logits) {
  const bool fits = logits.scalar_type() == torch::kFloat && logits.numel() > 0;
  if (fits && trains_on_cpu(logits)) return BalanceMatrices::apply(logits.contiguous());
  return fits && infers_on_cpu(logits) ? by_blocks(logits.contiguous()) : by_operators(logits);
}

}  // namespace ablate::models::ops
