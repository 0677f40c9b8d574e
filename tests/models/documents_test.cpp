#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

constexpr int64_t kDivider = 2;

bool reads_by_attention(const TransformerOptions& options) {
  return std::ranges::all_of(stack_of(options, Side::decoder).layers, [](const auto& layer) {
    return traits_of(layer.attention).has_scores && layer.canon.places.empty();
  });
}

/// Two documents of the same lengths, of which only the second is the same.
const torch::Tensor kFirst = ids({{1, 8, 9, kDivider, 5, 6, 7}, {4, kDivider, 5, 9, 8, 9, 0}}),
                    kSecond = ids({{1, 10, 7, kDivider, 5, 6, 7}, {6, kDivider, 5, 9, 8, 9, 0}});

/// Forgetting subtracts sums that began in the first document, which rounds.
double allowed_change(const std::string& variant) {
  return variant.starts_with("forgetting") ? 1e-5 : rounding(variant);
}

/// Decoders that read by attention alone. Experts with a limited capacity turn tokens away that
/// earlier ones leave no room for, so they are left out.
std::vector<Variant> decoders(bool with_experts) {
  std::vector<Variant> all;
  for (auto [name, options] : variants()) {
    if (name == "sides of their own" || name == "experts, limited") continue;
    if (!with_experts && name.starts_with("experts")) continue;
    options.family = Family::decoder_only;
    options.layer.cross_attention = Same{};
    if (reads_by_attention(options)) all.emplace_back(name, options);
  }
  EXPECT_GT(all.size(), 20U);
  return all;
}

TEST(Documents, NeverChangeLaterOnesBehindADivider) {
  for (const auto& [name, options] : decoders(true))
    for (const bool divided : {true, false}) {
      Vocabulary vocabulary{20, 20, kPad};
      if (divided) vocabulary.divider = kDivider;
      auto model = make(options, vocabulary);
      const auto nothing = torch::zeros({2, 0}, torch::kLong);
      const auto change =
          (model->forward(nothing, kFirst) - model->forward(nothing, kSecond)).abs();
      EXPECT_GT(change[0].slice(0, 1, 3).max().item<double>(), 1e-4) << name;
      if (divided) {
        EXPECT_LE(change[0].slice(0, 3).max().item<double>(), allowed_change(name)) << name;
        EXPECT_LE(change[1].slice(0, 1, 6).max().item<double>(), allowed_change(name)) << name;
      } else {
        EXPECT_GT(change[0].slice(0, 3).max().item<double>(), 1e-4) << name;
      }
    }
}

/// Of the same variants, where a document begins before, at and behind the end of the prompt.
TEST(Documents, AreDividedInACacheAsInAWholePass) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, options] : decoders(false)) {
    auto model = make(options, Vocabulary{20, 20, kPad, kDivider});
    const auto whole = model->forward(torch::zeros({2, 0}, torch::kLong), kFirst);
    for (const int64_t prompt : {1, 3, 4}) {
      auto cache = model->prefill(kFirst.slice(1, 0, prompt));
      for (int64_t t = prompt; t < 6; ++t)
        EXPECT_LT(largest_difference(model->step(kFirst.select(1, t), cache), whole.select(1, t)),
                  1e-4)
            << name << ", prompt of " << prompt << ", token " << t;
    }
  }
}

}  // namespace
}  // namespace ablate::models
