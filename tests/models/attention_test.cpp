#include <gtest/gtest.h>

#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(Attention, RecordsWhatEachQueryReadsWithoutChangingAnything) {
  torch::NoGradGuard no_grad;
  int64_t seen = 0;
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto source = ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}});
    const auto target = ids({{1, 4, 5}, {1, 6, 7}});
    std::vector<torch::Tensor> attentions;
    Observer observer;
    observer.attention = [&](const torch::Tensor& p) { attentions.push_back(p); };
    const auto plain = model->hidden(source, target).hidden;
    const auto watched = model->hidden(source, target, {.observer = &observer}).hidden;
    EXPECT_LT(largest_difference(watched, plain), 1e-4) << name;
    for (const auto& heads : attentions) {
      // Padding may find nothing to read.
      for (const auto& rows : {heads[0], heads[1].narrow(-2, 0, 3)})
        EXPECT_LT(largest_difference(rows.sum(-1), torch::ones({1})), 1e-5) << name;
      if (heads.size(-1) == 5)  // the second source has two tokens of padding
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
