#include "experiments/config/schema/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace ablate::config {
namespace {

TEST(Metrics, HaveNamesOfTheirOwnAndSayWhatTheyAre) {
  std::set<std::string> names, labels;
  for (const auto& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_TRUE(labels.insert(metric.label).second) << metric.label;
    EXPECT_FALSE(metric.meaning.empty()) << metric.name;
    EXPECT_LT(metric.low, metric.high) << metric.name;
    EXPECT_EQ(find_metric(metric.name), &metric);
  }
  EXPECT_EQ(find_metric("bleurt"), nullptr);
}

TEST(Metrics, OfATestSetFollowFromWhatIsComparedThere) {
  const auto names = [](data::Compared compared) {
    std::string text;
    for (const auto& metric : metrics_on(compared)) text += metric.name + " ";
    return text;
  };
  EXPECT_EQ(names(data::Compared::label), "exact_match perplexity loss decode_seconds ");
  EXPECT_EQ(names(data::Compared::nothing),
            "token_accuracy perplexity loss nats_per_character bits_per_character divergence "
            "unknown_targets ");
  constexpr size_t kNotOfText = 1;  // the divergence
  EXPECT_EQ(metrics_on(data::Compared::text).size() + kNotOfText + run_metrics().size() +
                kResources.size(),
            metrics().size());
}

TEST(Metrics, BitsAndNatsAreTheSameLength) {
  const auto& bits = *find_metric("bits_per_character");
  EXPECT_EQ(bits.field, "nats_per_character");
  EXPECT_DOUBLE_EQ(bits.converted(std::log(2.0)), 1);
}

TEST(Metrics, AreWrittenSoThatTheyCanBeRead) {
  EXPECT_EQ(number_text(12.3456, 3), "12.346");
  EXPECT_EQ(number_text(123456789.25, 1), "123456789.2");
  EXPECT_EQ(number_text(1.25e40, 3), "1.250e+40");
  EXPECT_EQ(number_text(-0.0001, 3), "0.000");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::quiet_NaN(), 3), "-");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity(), 3), "inf");
}

TEST(Metrics, MeansThatOnlyRoundingTellsApartAreEqual) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_above(0.1 + 0.2, 0.3));
  EXPECT_TRUE(is_above(0.300001, 0.3));
  EXPECT_FALSE(is_above(0.3, 0.300001));
  EXPECT_FALSE(is_above(1e15 + 1, 1e15));
  EXPECT_TRUE(is_above(1e-12, 0));
  EXPECT_TRUE(is_above(infinity, 1));
  EXPECT_FALSE(is_above(infinity, infinity));
  EXPECT_FALSE(is_above(std::nan(""), 1));
}

}  // namespace
}  // namespace ablate::config
