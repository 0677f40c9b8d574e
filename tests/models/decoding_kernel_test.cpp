#include <gtest/gtest.h>

#include "models/kernel/packed_product.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(BestOfRow, AreTheLargestAndTheLogarithmOfAllExponentials) {
  torch::manual_seed(2);
  for (const int64_t width : {4, 16, 17, 100, 1000}) {
    auto scores = torch::randn({width}) * 5;
    scores[width / 2] = scores[width - 1];  // a tie
    float value[4];
    int64_t index[4];
    const float all = kernel::best_of_row(scores.const_data_ptr<float>(), width, {value, index, 4});
    EXPECT_NEAR(all, scores.logsumexp(0).item<float>(), 1e-4);
    const auto best = std::get<0>(scores.topk(4));
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(value[i], best[i].item<float>());
      EXPECT_EQ(scores[index[i]].item<float>(), value[i]);
    }
  }
}

TEST(Attention, RecordsWhatEachQueryReadsWithoutChangingAnything) {
  torch::NoGradGuard no_grad;
  int64_t seen = 0;
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto source = ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}});
    const auto target = ids({{1, 4, 5}, {1, 6, 7}});
    Dropout none;
    Recorded recorded{.routings = {}, .inputs = {}, .attentions_wanted = true};
    const auto plain = model->hidden(source, target, none);
    EXPECT_LT(largest_difference(model->hidden(source, target, none, &recorded), plain), 1e-4)
        << name;
    for (const auto& heads : recorded.attentions) {
      // Padding may find nothing to read.
      for (const auto& rows : {heads[0], heads[1].narrow(-2, 0, 3)})
        EXPECT_LT(largest_difference(rows.sum(-1), torch::ones({1})), 1e-5) << name;
      if (heads.size(-1) == 5)  // the second source has two pieces of padding
        EXPECT_EQ(heads[1].narrow(-1, 3, 2).abs().max().item<float>(), 0) << name;
      else  // a target, of which nothing later is read
        EXPECT_EQ(heads.triu(1).abs().max().item<float>(), 0) << name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 20);
}

}  // namespace
}  // namespace ablate::models
