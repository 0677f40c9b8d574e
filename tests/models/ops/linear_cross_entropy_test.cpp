#include "models/ops/linear_cross_entropy.h"

#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <unordered_map>

#include "tests/models/models.h"

namespace ablate::models::ops {
namespace {

constexpr CrossEntropyOptions kOptions{.ignored = 0, .smoothing = 0.1};

/// LibTorch's CPU allocator, which also knows the most bytes that were held at once.
class CountingAllocator : public c10::Allocator {
 public:
  CountingAllocator() : inner_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 100); }

  c10::DataPtr allocate(size_t bytes) override {
    auto data = inner_->allocate(bytes);
    void* pointer = data.get();
    const std::scoped_lock lock(mutex_);
    peak_ = std::max(peak_, held_ += bytes);
    if (pointer != nullptr) blocks_.insert_or_assign(pointer, std::pair(std::move(data), bytes));
    return {pointer, pointer, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
  template <class Body>
  size_t peak_of(Body&& body) {
    const size_t before = peak_ = held_;
    body();
    return peak_ - before;
  }
  static CountingAllocator& installed() {
    static auto* allocator = new CountingAllocator;  // other tests' tensors may outlive this one
    return *allocator;
  }

 private:
  static void release(void* pointer) {
    auto& self = installed();
    const std::scoped_lock lock(self.mutex_);
    if (const auto block = self.blocks_.extract(pointer)) self.held_ -= block.mapped().second;
  }

  c10::Allocator* inner_;
  std::mutex mutex_;
  std::unordered_map<void*, std::pair<c10::DataPtr, size_t>> blocks_;
  size_t held_ = 0, peak_ = 0;
};

struct Case {
  torch::Tensor hidden, weight, target;

  CrossEntropy loss(double smoothing = 0.1) const {
    return linear_cross_entropy(hidden, weight, target, {.ignored = 0, .smoothing = smoothing});
  }
  torch::Tensor reference(double smoothing) const {
    return torch::cross_entropy_loss(torch::linear(hidden, weight).flatten(0, 1), target.flatten(),
                                     {}, at::Reduction::Sum, /*ignore_index=*/0, smoothing);
  }
};

/// Three sequences, of which two are padded.
Case case_of(int64_t vocabulary, torch::ScalarType type = torch::kFloat) {
  torch::manual_seed(1);
  auto target = torch::randint(1, vocabulary, {3, 7});
  target[1].slice(0, 4).zero_();
  target[2].slice(0, 1).zero_();
  return {torch::randn({3, 7, 16}).to(type).requires_grad_(),
          (torch::randn({vocabulary, 16}) * 0.3).requires_grad_(), target};
}

TEST(LinearCrossEntropy, EqualsLibTorchsWithItsGradients) {
  for (const int64_t vocabulary : {5, 16, 1000, 70'000})
    for (const double smoothing : {0.0, 0.1}) {
      const auto c = case_of(vocabulary);
      const auto ours = c.loss(smoothing);
      const auto theirs = c.reference(smoothing);
      EXPECT_NEAR(ours.loss.item<double>() / theirs.item<double>(), 1.0, 1e-5);
      EXPECT_NEAR(ours.nll.item<double>() / c.reference(0.0).item<double>(), 1.0, 1e-5);
      const auto a = torch::autograd::grad({ours.loss * 0.25}, {c.hidden, c.weight});
      const auto b = torch::autograd::grad({theirs * 0.25}, {c.hidden, c.weight});
      EXPECT_LT(largest_difference(a[0], b[0]), 1e-5) << vocabulary;
      EXPECT_LT(largest_difference(a[1], b[1]), 1e-5) << vocabulary;
    }
}

/// The bias's gradient is how often each id was expected less how often it was drawn.
TEST(LinearCrossEntropy, DrawsTargetsFromTheSoftmax) {
  constexpr int64_t kRows = 30'000, kPadded = 10'000;
  const auto shares = torch::tensor({0.1, 0.2, 0.7});
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    const auto hidden = torch::zeros({kRows, 1}, type);
    const auto bias = shares.log().to(type).requires_grad_();
    const OutputMap output(torch::zeros({3, 1}, type), bias);
    auto target = torch::ones({kRows}, torch::kLong);
    target.slice(0, 0, kPadded).zero_();
    const auto drawn = [&](uint64_t seed) {
      const auto loss =
          linear_cross_entropy(hidden, output, target, {.ignored = 0, .draw_seed = seed}).loss;
      const auto expected = shares * static_cast<double>(kRows - kPadded);
      return expected - torch::autograd::grad({loss}, {bias})[0].to(torch::kDouble);
    };
    const auto counts = drawn(1);
    EXPECT_LT((counts - counts.round()).abs().max().item<double>(), 0.05) << counts;
    EXPECT_NEAR(counts.sum().item<double>(), kRows - kPadded, 0.05);
    for (const int64_t id : {0, 1, 2}) {
      const double share = shares[id].item<double>(), rows = kRows - kPadded;
      EXPECT_NEAR(counts[id].item<double>(), rows * share,
                  5 * std::sqrt(rows * share * (1 - share)));
    }
    EXPECT_TRUE(torch::equal(drawn(1), counts));
    EXPECT_FALSE(torch::equal(drawn(2), counts));
  }
}

TEST(LinearCrossEntropy, ABiasIsOneOfLibTorchsLogits) {
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    const auto c = case_of(50, type);
    const auto weight = c.weight.detach().to(type).requires_grad_();
    const auto bias = torch::linspace(-1, 1, 50).to(type).requires_grad_();
    const OutputMap output(weight, bias);
    const auto ours = linear_cross_entropy(c.hidden, output, c.target, {.ignored = 0});
    const auto logits = torch::linear(c.hidden, weight, bias);
    const auto theirs = torch::cross_entropy_loss(logits.flatten(0, 1), c.target.flatten(), {},
                                                  at::Reduction::Sum, /*ignore_index=*/0);
    EXPECT_NEAR(ours.loss.item<double>() / theirs.item<double>(), 1.0, 1e-5);
    const auto a = torch::autograd::grad({ours.loss}, {c.hidden, weight, bias});
    const auto b = torch::autograd::grad({theirs}, {c.hidden, weight, bias});
    for (size_t i = 0; i < a.size(); ++i) EXPECT_LT(largest_difference(a[i], b[i]), 1e-4) << i;
    const auto scores = score_targets(c.hidden, output, c.target, 0);
    EXPECT_NEAR(scores.nll.sum().item<double>() / theirs.item<double>(), 1.0, 1e-5);
  }
}

TEST(LinearCrossEntropy, ACapAndAZLossAreThoseOfTheirFormulas) {
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kBFloat16}) {
    const auto c = case_of(50, type);
    const auto weight = c.weight.detach().to(type == torch::kDouble ? type : torch::kFloat) * 3;
    weight.requires_grad_();
    const OutputMap output(weight, {}, 2.0);
    const auto ours = linear_cross_entropy(c.hidden, output, c.target,
                                           {.ignored = 0, .smoothing = 0.1, .z = 0.3});
    const auto logits =
        2 * (torch::linear(c.hidden.to(torch::kDouble), weight.to(torch::kDouble)) / 2).tanh();
    const auto z = logits.logsumexp(-1).square().masked_select(c.target.ne(0)).sum();
    const auto theirs = torch::cross_entropy_loss(logits.flatten(0, 1), c.target.flatten(), {},
                                                  at::Reduction::Sum, /*ignore_index=*/0, 0.1) +
                        0.3 * z;
    const double near = type == torch::kBFloat16 ? 0.02 : 1e-5;
    EXPECT_NEAR(ours.loss.item<double>() / theirs.item<double>(), 1.0, near);
    const auto a = torch::autograd::grad({ours.loss}, {c.hidden, weight});
    const auto b = torch::autograd::grad({theirs}, {c.hidden, weight});
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_LT(largest_difference(a[i], b[i]), near * b[i].abs().max().item<double>()) << i;
    const auto scores = score_targets(c.hidden, output, c.target, 0);
    EXPECT_NEAR(scores.nll.sum().item<double>() / ours.nll.item<double>(), 1.0, near);
  }
}

TEST(LinearCrossEntropy, PaddingHasNoGradient) {
  const auto c = case_of(50);
  const auto gradient = torch::autograd::grad({c.loss().loss}, {c.hidden})[0];
  EXPECT_EQ(gradient.masked_select(c.target.eq(0).unsqueeze(2)).abs().max().item<double>(), 0.0);
  EXPECT_GT(gradient.masked_select(c.target.ne(0).unsqueeze(2)).abs().min().item<double>(), 0.0);
}

TEST(LinearCrossEntropy, Bfloat16StaysNearFloat) {
  EXPECT_NEAR(case_of(300).loss().loss.item<double>() /
                  case_of(300, torch::kBFloat16).loss().loss.item<double>(),
              1.0, 0.01);
}

TEST(LinearCrossEntropy, IsTheSameWithoutGradients) {
  const auto c = case_of(40);
  const auto with = c.loss();
  const torch::NoGradGuard no_grad;
  EXPECT_NEAR(with.loss.item<double>() / c.loss().loss.item<double>(), 1.0, 1e-6);
}

TEST(LinearCrossEntropy, ScoringNeedsNoMoreMemoryThanTraining) {
  const int64_t rows = 4000, vocabulary = 10'000;
  const auto hidden = torch::randn({rows, 8}).requires_grad_();
  const auto weight = torch::randn({vocabulary, 8}).requires_grad_();
  const auto target = torch::randint(1, vocabulary, {rows});
  const auto training = CountingAllocator::installed().peak_of(
      [&] { linear_cross_entropy(hidden, weight, target, kOptions).loss.backward(); });
  const auto scoring =
      CountingAllocator::installed().peak_of([&] { score_targets(hidden, weight, target, 0); });
  EXPECT_GT(scoring, 0);
  EXPECT_LT(training, rows * vocabulary * sizeof(float) / 4) << "never all logits";
  EXPECT_LE(scoring, 2 * training) << "a chunk and its exponentials";
}

TEST(LinearCrossEntropy, LeavesAFrozenWeightWithoutAGradient) {
  const int64_t vocabulary = 100'000;
  const auto hidden = torch::randn({4, 64}).requires_grad_();
  const auto weight = torch::randn({vocabulary, 64});
  const auto target = torch::randint(1, vocabulary, {4});
  const auto peak = CountingAllocator::installed().peak_of(
      [&] { linear_cross_entropy(hidden, weight, target, kOptions).loss.backward(); });
  EXPECT_TRUE(hidden.grad().defined());
  EXPECT_LT(peak, static_cast<size_t>(weight.numel()) * sizeof(float) / 2);
}

TEST(LinearCrossEntropy, InDoublePrecisionIsTheSameAndHasASecondDerivative) {
  const auto hidden = torch::randn({4, 8}).requires_grad_();
  const auto wide = hidden.detach().to(torch::kDouble).requires_grad_();
  const auto weight = torch::randn({9, 8}), target = torch::tensor({1, 2, 0, 3});
  const auto loss = linear_cross_entropy(hidden, weight, target, kOptions);
  const auto exact = linear_cross_entropy(wide, weight.to(torch::kDouble), target, kOptions);
  EXPECT_NEAR(loss.loss.item<double>(), exact.loss.item<double>(), 1e-4);
  EXPECT_NEAR(loss.nll.item<double>(), exact.nll.item<double>(), 1e-4);
  const auto first = torch::autograd::grad({exact.loss}, {wide}, {}, true, true)[0];
  EXPECT_LT(largest_difference(torch::autograd::grad({loss.loss}, {hidden})[0], first), 1e-5);
  EXPECT_GT(torch::autograd::grad({first.square().sum()}, {wide})[0].abs().max().item<double>(), 0);
}

TEST(ScoreTargets, AreMinusTheLogOfTheProbabilityOfEachTarget) {
  const auto hidden = torch::randn({5, 8}), weight = torch::randn({70'000, 8});
  const auto target = torch::tensor({1, 69'999, 0, 3, 7});
  const auto scores = score_targets(hidden, weight, target, 0);
  const auto logits = torch::linear(hidden, weight);
  const auto expected = -logits.log_softmax(-1).gather(1, target.unsqueeze(1)).squeeze(1);
  EXPECT_EQ(scores.nll[2].item<float>(), 0);
  EXPECT_LT(largest_difference(scores.nll, expected.masked_fill(target.eq(0), 0)), 1e-4);
  const auto best = logits.argmax(-1);
  EXPECT_TRUE(score_targets(hidden, weight, best, -1).likeliest.all().item<bool>());
  EXPECT_FALSE(
      score_targets(hidden, weight, (best + 1).remainder(70'000), -1).likeliest.any().item<bool>());
}

}  // namespace
}  // namespace ablate::models::ops
