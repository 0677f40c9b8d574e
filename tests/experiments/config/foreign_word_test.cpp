#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/suggestion.h"
#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

TEST(ForeignKeys, AreNoneOfOursAndLeadToOnesThatAre) {
  const auto& schema = experiment_schema();
  for (const auto& [key, ours, remark] : kForeignKeys) {
    EXPECT_EQ(paths_of(schema, key), std::vector<std::string>()) << key;
    EXPECT_NE(node_at(schema, ours), nullptr) << ours;
  }
}

TEST(ForeignValues, AreNoneOfOursAndLeadToOnesThatAre) {
  const auto& schema = experiment_schema();
  for (const auto& [path, value, ours] : kForeignValues) {
    const auto* node = node_at(schema, path);
    if (node == nullptr) node = node_at(schema, path.substr(0, path.rfind('.')));
    ASSERT_NE(node, nullptr) << path;
    EXPECT_EQ(std::ranges::count(node->choices, value), 0) << value;
    EXPECT_EQ(std::ranges::count(node->choices, ours), 1) << ours;
  }
}

TEST(ForeignWords, AreAnsweredInOurs) {
  EXPECT_EQ(messages_of(kTraining + "{lr: 0.001}\n"),
            "study.yaml:5:14: unknown key 'lr' in training; here it is training.schedule.peak");
  EXPECT_EQ(messages_of(kTraining + "{batch_size: 64}\n"),
            "study.yaml:5:14: unknown key 'batch_size' in training; here it is "
            "training.tokens_per_batch: a batch is measured in target tokens");
  EXPECT_EQ(messages_of(kTraining + "{epochs: 3}\n"),
            "study.yaml:5:14: unknown key 'epochs' in training; here it is training.steps: a run "
            "is measured in updates, or by training.budget");
  EXPECT_EQ(messages_of(kTraining + "{device: gpu}\n"),
            "study.yaml:5:22: unknown device 'gpu' in training; write cuda");
  EXPECT_EQ(messages_of(kTraining + "{precision: fp16}\n"),
            "study.yaml:5:25: unknown precision 'fp16' in training; write bf16");
}

}  // namespace
}  // namespace ablate::config
