// Answers questions about numbers, one JSON line each, for compare.py and calibrate.py.

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/collapse.h"
#include "experiments/analysis/statistics/components.h"
#include "experiments/analysis/statistics/e_value.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/pooling.h"
#include "experiments/analysis/statistics/power_law.h"
#include "experiments/analysis/statistics/significance.h"
#include "training/metrics/bleu.h"
#include "training/metrics/chrf.h"
#include "training/metrics/rouge.h"

namespace ablate {
namespace {

using Lines = std::vector<std::string>;
using Numbers = std::vector<double>;
using nlohmann::json;

json score_lines(const json& question) {
  const auto hypotheses = question.at("hypotheses").get<Lines>();
  const auto references = question.at("references").get<Lines>();
  const auto rouge = training::rouge(hypotheses, references);
  const training::BleuOptions lower{.lowercase = true};
  const training::ChrfOptions words{.word_order = 2};
  return {{"bleu", training::bleu(hypotheses, references).score},
          {"bleu_lowercase", training::bleu(hypotheses, references, lower).score},
          {"chrf", training::chrf(hypotheses, references).score},
          {"chrf_words", training::chrf(hypotheses, references, words).score},
          {"rouge_1", rouge.one},
          {"rouge_2", rouge.two},
          {"rouge_l", rouge.longest},
          {"word_error_rate", training::word_error_rate(hypotheses, references)}};
}

json describe_sample(const json& question) {
  const auto values = question.at("values").get<Numbers>();
  const auto interval = statistics::t_interval(values);
  return {{"mean", statistics::mean(values)},
          {"deviation", statistics::deviation(values)},
          {"low", interval ? interval->low : 0},
          {"high", interval ? interval->high : 0},
          {"sign_flip_p", statistics::sign_flip_p(values)},
          {"equivalence_p", statistics::equivalence_p(values, question.at("margin"))},
          {"t_test_p", statistics::t_test_p(values)},
          {"t_greater_p", statistics::t_greater_p(values)}};
}

json test_jointly(const json& question) {
  const auto samples = question.at("samples").get<std::vector<Numbers>>();
  Numbers p;
  for (const auto& sample : samples) p.push_back(statistics::sign_flip_p(sample));
  return {{"holm", statistics::holm(p)},
          {"both", statistics::joint_sign_flip_p(samples, statistics::Side::both)},
          {"greater", statistics::joint_sign_flip_p(samples, statistics::Side::greater)}};
}

/// Without bounds the metric is unbounded.
json find_collapsed(const json& question) {
  const auto& bounds = question.at("bounds");
  const auto range =
      bounds.is_null() ? statistics::kUnbounded : statistics::Interval{bounds.at(0), bounds.at(1)};
  return {{"collapsed", statistics::collapsed_seeds(question.at("values").get<Numbers>(),
                                                    question.at("higher"), range)}};
}

json adjust(const json& question) {
  return {{"holm", statistics::holm(question.at("p").get<Numbers>())}};
}

json share(const json& question) {
  const auto interval = statistics::wilson_interval(question.at("hits"), question.at("count"));
  return {{"low", interval.low}, {"high", interval.high}};
}

json compare_groups(const json& question) {
  const auto left = question.at("left").get<Numbers>(), right = question.at("right").get<Numbers>();
  return {{"greater", statistics::probability_greater(left, right)},
          {"interquartile_mean", statistics::interquartile_mean({left, right})}};
}

json fit(const json& question) {
  std::vector<statistics::Observation> points;
  for (const auto& point : question.at("points")) points.push_back({point.at(0), point.at(1)});
  const auto law = statistics::fit_power_law(points);
  return {{"factor", law->factor}, {"exponent", law->exponent}, {"r_squared", law->r_squared}};
}

/// Each study is its mean, its error and its covariates.
json pool(const json& question) {
  std::vector<statistics::StudyEffect> studies;
  for (const auto& study : question.at("studies"))
    studies.push_back({study.at(0), study.at(1), study.at(2).get<Numbers>()});
  const auto pooled = statistics::PooledStudies::of(studies);
  const auto effect = pooled->at(question.at("place").get<Numbers>());
  return {{"tau", pooled->tau()},
          {"coefficients", pooled->coefficients()},
          {"confidence", Numbers{effect.confidence.low, effect.confidence.high}},
          {"prediction", Numbers{effect.prediction.low, effect.prediction.high}}};
}

json cross(const json& question) {
  const auto table = question.at("table").get<std::vector<Numbers>>();
  const auto found = statistics::components_of(table);
  return {{"components", Numbers{found.rows, found.columns, found.rest}}};
}

json answer(const json& question) {
  const std::string what = question.at("what");
  if (what == "lines") return score_lines(question);
  if (what == "sample") return describe_sample(question);
  if (what == "joint") return test_jointly(question);
  if (what == "collapse") return find_collapsed(question);
  if (what == "holm") return adjust(question);
  if (what == "share") return share(question);
  if (what == "e_value")
    return {{"p", statistics::e_value_p(question.at("values").get<Numbers>())}};
  if (what == "pool") return pool(question);
  if (what == "cross") return cross(question);
  if (what == "groups") return compare_groups(question);
  return fit(question);
}

}  // namespace
}  // namespace ablate

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << ablate::answer(ablate::json::parse(line)).dump() << "\n";
}
