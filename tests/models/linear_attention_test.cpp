#include <gtest/gtest.h>

#include <functional>

#include "models/mixer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

constexpr int64_t kStateWidth = 6, kStates = 2;

StackOptions linear_stack(const AttentionOptions& attention, bool causal) {
  auto options = tiny();
  options.layer.attention = attention;
  options.d_model = kStateWidth;
  return stack_of(options, causal ? Side::decoder : Side::encoder);
}

/// A mixer in double precision whose state is kept by the definition: one matrix for each head,
/// changed position by position.
class LinearAttentionTest : public testing::Test {
 protected:
  void make(const AttentionOptions& attention, bool causal = true) {
    const auto stack = linear_stack(attention, causal);
    mixer_ = initialized(make_mixer(stack.layers.front(), stack));
    mixer_->to(torch::kDouble);
    torch::NoGradGuard no_grad;
    for (auto& parameter : mixer_->parameters())
      if (parameter.dim() == 1) parameter.normal_();
  }
  torch::Tensor weighed(const std::string& name, const torch::Tensor& x) const {
    const auto all = mixer_->named_parameters();
    const auto* bias = all.find(name + ".bias");
    return torch::linear(x, all[name + ".weight"], bias == nullptr ? torch::Tensor() : *bias);
  }
  torch::Tensor mixed(const torch::Tensor& x, const torch::Tensor& padding_mask = {}) const {
    return mixer_->forward(x, {}, {.padding_mask = padding_mask});
  }

  /// Query, key or value of a head at a position. // [K]
  torch::Tensor part(const torch::Tensor& x, int64_t which, int64_t t, int64_t head) const {
    const int64_t width = which == 2 ? value_ : kStateWidth / kStates;
    const auto found = weighed("qkv", x)[0][t].narrow(0, which * kStateWidth + head * width, width);
    return silu_ ? torch::silu(found) : found;
  }

  /// `read(head, t, state)` of every head after `write(head, t, state)` at each position up to t.
  /// A state has a column more than values are wide.
  template <class Write, class Read>
  torch::Tensor by_definition(Write write, Read read) const {
    torch::Tensor all = torch::zeros({1, x_.size(1), kStates * value_}, torch::kDouble);
    for (int64_t head = 0; head < kStates; ++head) {
      auto state = torch::zeros({kStateWidth / kStates, value_ + 1}, torch::kDouble);
      for (int64_t t = 0; t < x_.size(1); ++t) {
        state = write(head, t, state);
        all[0][t].narrow(0, head * value_, value_).copy_(read(head, t, state));
      }
    }
    return all;
  }

  static torch::Tensor feature(const torch::Tensor& x) { return torch::elu(x) + 1; }
  /// The outputs without decay. // [1, T, D]
  torch::Tensor weighed_mean(bool causal) const {
    const auto length = x_.size(1);
    torch::Tensor all = torch::zeros({1, length, kStateWidth}, torch::kDouble);
    for (int64_t head = 0; head < kStates; ++head)
      for (int64_t t = 0; t < length; ++t) {
        auto sum = torch::zeros({kStateWidth / kStates}, torch::kDouble),
             weights = torch::zeros_like(sum);
        for (int64_t s = 0; s < (causal ? t + 1 : length); ++s) {
          const auto weight = feature(part(x_, 0, t, head)).dot(feature(part(x_, 1, s, head)));
          sum += weight * part(x_, 2, s, head);
          weights += weight;
        }
        all[0][t]
            .narrow(0, head * kStateWidth / kStates, kStateWidth / kStates)
            .copy_(sum / weights);
      }
    return weighed("out", all);
  }
  void add_to_queries_and_keys(double number) const {
    mixer_->named_parameters()["qkv.bias"].narrow(0, 0, 2 * kStateWidth) += number;
  }

  /// What is kept of a state, and the key's values and 1 added to it. `kept` may have a number for
  /// each key.
  template <class Kept>
  torch::Tensor retained(Kept kept) const {
    const auto one = torch::ones({1}, torch::kDouble);
    const auto heads = by_definition(
        [&](int64_t head, int64_t t, const torch::Tensor& state) {
          return state * kept(head, t) +
                 torch::outer(part(x_, 1, t, head), torch::cat({part(x_, 2, t, head), one}));
        },
        [&](int64_t head, int64_t t, const torch::Tensor& state) {
          const auto read = part(x_, 0, t, head).matmul(state) / std::sqrt(3.0);
          return read.slice(0, 0, 3) / read[3].abs().clamp_min(1);
        });
    return weighed("out", heads * torch::silu(weighed("gate", x_)));
  }

  /// The outputs of heads by the delta rule: the state decays, and then the value under the key is
  /// replaced.
  template <class Kept>
  torch::Tensor replacing_heads(Kept kept) const {
    const auto unit = [](const torch::Tensor& x) { return x / (x.square().sum() + 1e-6).sqrt(); };
    const auto strength = weighed("write", x_).sigmoid();  // [1, T, H]
    return by_definition(
        [&](int64_t head, int64_t t, const torch::Tensor& state) {
          const auto key = unit(part(x_, 1, t, head));
          const auto value = torch::cat({part(x_, 2, t, head), torch::zeros({1}, torch::kDouble)});
          const auto left = state * kept(head, t);
          return left + strength[0][t][head] * torch::outer(key, value - key.matmul(left));
        },
        [&](int64_t head, int64_t t, const torch::Tensor& state) {
          return unit(part(x_, 0, t, head)).matmul(state).slice(0, 0, value_);
        });
  }

  /// What is kept of a head's state at a position, or of each component of its keys.
  std::function<torch::Tensor(int64_t head, int64_t t)> kept_by(Forgetting decay) const {
    if (decay == Forgetting::none) return [](int64_t, int64_t) { return torch::ones({}); };
    if (decay == Forgetting::fixed)
      return [](int64_t head, int64_t) {
        return torch::tensor(1 - std::pow(2.0, -5 - head), torch::kDouble);
      };
    const auto kept = weighed("keep", x_).sigmoid().pow(1.0 / 16);  // [1, T, H] or [1, T, H K]
    return [kept, decay](int64_t head, int64_t t) {
      if (decay == Forgetting::gated) return kept[0][t][head];
      return kept[0][t].narrow(0, head * kStateWidth / kStates, kStateWidth / kStates).unsqueeze(1);
    };
  }

  /// Another input of this length.
  void read(int64_t length) {
    torch::manual_seed(2);
    x_ = torch::randn({1, length, kStateWidth}, torch::kDouble);
  }

  int64_t value_ = kStateWidth / kStates;  // width of a head's value
  bool silu_ = false;
  torch::NoGradGuard no_grad_;
  torch::Tensor x_ = (torch::manual_seed(1), torch::randn({1, 5, kStateWidth}, torch::kDouble));
  std::shared_ptr<Mixer> mixer_;
};

TEST_F(LinearAttentionTest, WithoutDecayIsAMeanOfTheValuesWeighedByKernels) {
  for (const int64_t length : {5, 140})  // within a chunk, and in two
    for (const bool causal : {true, false}) {
      read(length);
      make(LinearAttention{{.heads = kStates}}, causal);
      EXPECT_LT(largest_difference(mixed(x_), weighed_mean(causal)), 1e-12) << length << causal;
    }
}

/// elu(-20) + 1 is 0 in single precision, and the mean of values with such weights 0 / 0.
TEST_F(LinearAttentionTest, WeighsAlsoByKernelsThatAreSmall) {
  for (const bool causal : {true, false}) {
    make(LinearAttention{{.heads = kStates}}, causal);
    add_to_queries_and_keys(-20);
    const auto expected = weighed_mean(causal);
    mixer_->to(torch::kFloat);
    EXPECT_LT(largest_difference(mixed(x_.to(torch::kFloat)), expected), 1e-5) << causal;
  }
}

TEST_F(LinearAttentionTest, KernelsThatVanishLeaveNumbersAndGradients) {
  for (const bool causal : {true, false}) {
    make(LinearAttention{{.heads = kStates}}, causal);
    add_to_queries_and_keys(-200);
    mixer_->to(torch::kFloat);
    const torch::AutoGradMode records(true);
    const auto found = mixed(x_.to(torch::kFloat));
    EXPECT_TRUE(found.isfinite().all().item<bool>()) << causal;
    found.sum().backward();
    for (const auto& parameter : mixer_->parameters())
      EXPECT_TRUE(parameter.grad().isfinite().all().item<bool>()) << causal;
  }
}

/// How far a mixer may be from its definition, over an input within a chunk and over a longer one.
struct Bound {
  Forgetting decay;
  int64_t longer;
  double far;
};

/// A fixed decay is in single precision, and its rounding adds up over the positions.
TEST_F(LinearAttentionTest, ForgetsAtAFixedRateOfEachHeadOrAsTheInputSaysOfHeadsOrChannels) {
  for (const auto& [decay, longer, far] : {Bound{Forgetting::fixed, 300, 1e-5},
                                           {Forgetting::gated, 300, 1e-12},
                                           {Forgetting::channels, 40, 1e-12}})
    for (const int64_t length : {int64_t{5}, longer}) {
      read(length);
      make(LinearAttention{{.heads = kStates, .decay = decay}});
      EXPECT_LT(largest_difference(mixed(x_), retained(kept_by(decay))), far)
          << static_cast<int>(decay) << " " << length;
    }
}

TEST_F(LinearAttentionTest, TheDeltaRuleReplacesWhatAKeyHoldsOfWhatIsLeft) {
  for (const auto& [decay, longer, far] : {Bound{Forgetting::none, 5, 1e-10},
                                           {Forgetting::fixed, 5, 1e-6},
                                           {Forgetting::gated, 300, 1e-10},
                                           {Forgetting::channels, 40, 1e-10}})
    for (const int64_t length : {int64_t{5}, longer}) {
      read(length);
      make(DeltaRule{{.heads = kStates, .decay = decay}});
      const auto expected = weighed("out", replacing_heads(kept_by(decay)));
      EXPECT_LT(largest_difference(mixed(x_), expected), far)
          << static_cast<int>(decay) << " " << length;
    }
}

TEST_F(LinearAttentionTest, AGatedDeltaNetHasSiluWideValuesAndAGateOfItsNormedHeads) {
  silu_ = true;
  for (const auto& [expand, length] : {std::pair<int64_t, int64_t>{1, 5}, {2, 5}, {2, 300}}) {
    read(length);
    const DeltaRule options{{.heads = kStates, .decay = Forgetting::gated},
                            expand,
                            /*silu=*/true,
                            /*output_gate=*/true};
    make(options);
    value_ = expand * kStateWidth / kStates;
    const auto heads = replacing_heads(kept_by(Forgetting::gated)).unflatten(-1, {kStates, -1});
    const double epsilon = linear_stack(options, true).layers.front().norm.epsilon;
    const auto normed = heads / (heads.square().mean(-1, /*keepdim=*/true) + epsilon).sqrt() *
                        mixer_->named_parameters()["output_norm.weight"];
    const auto expected = weighed("out", normed.flatten(2) * torch::silu(weighed("gate", x_)));
    EXPECT_LT(largest_difference(mixed(x_), expected), 1e-10) << expand << " " << length;
  }
}

TEST_F(LinearAttentionTest, AStateThatForgetsAlmostEverythingAtOnceOverflowsNowhere) {
  read(40);
  for (const auto& attention :
       {AttentionOptions(LinearAttention{{.heads = kStates, .decay = Forgetting::channels}}),
        AttentionOptions(DeltaRule{{.heads = kStates, .decay = Forgetting::channels}})}) {
    make(attention);
    for (auto& item : mixer_->named_parameters())
      if (item.key() == "keep.bias") item.value().fill_(-1e4);
    mixer_->to(torch::kFloat);
    torch::AutoGradMode on(true);
    const auto x = x_.to(torch::kFloat).requires_grad_();
    mixed(x).sum().backward();
    EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
  }
}

TEST_F(LinearAttentionTest, TwoSidedOnesDoNotSeePadding) {
  const auto padded = torch::cat({x_, torch::randn({1, 2, kStateWidth}, torch::kDouble)}, 1);
  const auto padding_mask = torch::arange(7).lt(5).unsqueeze(0);
  for (const auto decay : {Forgetting::none, Forgetting::fixed}) {
    make(LinearAttention{{.heads = kStates, .decay = decay}}, /*causal=*/false);
    const auto alone = mixed(x_);
    EXPECT_LT(largest_difference(alone, mixed(padded, padding_mask).slice(1, 0, 5)), 1e-12);
    EXPECT_GT(largest_difference(alone, mixed(padded).slice(1, 0, 5)), 1e-3);
  }
}

}  // namespace
}  // namespace ablate::models
