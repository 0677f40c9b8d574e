#include "experiments/analysis/curve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/statistics/curve_fit.h"
#include "experiments/analysis/tuned_values.h"
#include "experiments/config/study/curve.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {
namespace {

using SeedRuns = std::vector<const records::RunResult*>;

/// Replaces each score of `sum`, a member that is a metric, by its weighted sum over `all`, of
/// perplexities in logarithms, within the metric's range; NaN if one is not finite.
template <class Scores>
void sum_scores(Scores& sum, const std::vector<const Scores*>& all,
                const std::vector<double>& weights) {
  Scores::fields(sum, [&]<class Member>(const std::string& name, Member& member) {
    if constexpr (std::is_same_v<Member, double>) {
      const auto* metric = config::find_metric(name);
      if (metric == nullptr) return;
      const bool logarithmic = name.ends_with("perplexity");
      double total = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        const double score = records::value_of(*all[i], {.name = name, .field = name});
        total += weights[i] * (logarithmic ? std::log(score) : score);
      }
      member = !std::isfinite(total)
                   ? records::kNotMeasured
                   : std::clamp(logarithmic ? std::exp(total) : total, metric->low, metric->high);
    }
  });
}

/// The result of a seed at the vertex, from its runs, which all have the same test sets.
records::RunResult result_at(const SeedRuns& runs, const std::vector<double>& weights,
                             size_t nearest) {
  auto result = *runs[nearest];
  sum_scores(result, runs, weights);
  for (size_t i = 0; i < result.tests.size(); ++i) {
    std::vector<const records::TestScores*> tests;
    for (const auto* run : runs) tests.push_back(&run->tests.at(i));
    sum_scores(result.tests[i], tests, weights);
  }
  return result;
}

bool has_diverged_run(const config::TriedCombination& tried) {
  return std::ranges::any_of(tried.scores,
                             [](const auto& score) { return score && std::isnan(*score); });
}

/// The runs of one arm in one task, and its curve.
class ArmCurve {
 public:
  using Results = std::map<std::string, const records::RunResult*>;  // by label

  ArmCurve(const config::Study& study, const config::UntunedArm& arm, const Results& results,
           const std::set<std::string>& left_out)
      : study_(study), key_(study.tuning->keys.front()) {
    found_.search = {.task = arm.task, .arm = arm.arm};
    for (const auto& value : key_.values) {
      config::TriedCombination tried{.values = {config::text_of(value)}};
      for (const int64_t seed : study.seeds) {
        const auto label =
            records::label(arm.task, arm.arm + "-" + config::point_of(key_, value), seed);
        const auto result = results.find(label);
        runs_[seed].push_back(result == results.end() ? nullptr : result->second);
        const bool open = runs_[seed].back() == nullptr && !left_out.contains(label);
        found_.search.open += open ? 1 : 0;
        tried.scores.push_back(open ? std::nullopt : std::optional(score_of(runs_[seed].back())));
      }
      found_.search.tried.push_back(std::move(tried));
    }
  }

  /// Adds the results at the vertex, if there is one.
  TunedArm take(std::vector<records::RunResult>& results) {
    auto& curve = found_.curve.emplace();
    std::vector<size_t> kept;
    for (size_t i = 0; i < key_.values.size(); ++i)
      if (!has_diverged_run(found_.search.tried[i])) kept.push_back(i);
    std::vector<SeedRuns> complete;  // the kept runs of seeds that have all of them
    for (const int64_t seed : study_.seeds) {
      SeedRuns runs;
      for (const size_t i : kept)
        if (runs_[seed][i] != nullptr) runs.push_back(runs_[seed][i]);
      if (runs.size() == kept.size()) complete.push_back(std::move(runs));
    }
    if (kept.size() < config::kFewestPoints || complete.empty()) return std::move(found_);
    const auto weights = fit(kept, complete);
    const auto nearest = std::ranges::find(kept, *found_.search.chosen.front().tried);
    curve.score = 0;
    for (const auto& runs : complete) {
      results.push_back(result_at(runs, weights, static_cast<size_t>(nearest - kept.begin())));
      results.back().arm = found_.search.arm;
      curve.score += score_of(&results.back()) / static_cast<double>(complete.size());
    }
    return std::move(found_);
  }

 private:
  bool by_perplexity() const {
    return study_.tuning->metric == config::ValidationMetric::perplexity;
  }

  /// NaN without a run, and of one whose score is not finite: it has diverged.
  double score_of(const records::RunResult* run) const {
    if (run == nullptr) return records::kNotMeasured;
    const double score =
        by_perplexity() ? run->validation_perplexity : run->validation_token_accuracy;
    return std::isfinite(score) ? score : records::kNotMeasured;
  }

  /// Lower is better, and a curve fits it.
  double loss_of(const records::RunResult* run) const {
    return by_perplexity() ? std::log(score_of(run)) : -score_of(run);
  }

  /// To the means at the kept values; gives the weights of these.
  std::vector<double> fit(const std::vector<size_t>& kept, const std::vector<SeedRuns>& complete) {
    std::vector<double> points, means;
    for (size_t i = 0; i < kept.size(); ++i) {
      points.push_back(std::log2(*config::parse_number(key_.values[kept[i]]).value));
      means.push_back(0);
      for (const auto& runs : complete)
        means[i] += loss_of(runs[i]) / static_cast<double>(complete.size());
    }
    auto& curve = *found_.curve;
    const statistics::CurveFit fitted(points);
    const auto best = std::ranges::min_element(means) - means.begin();
    const double x = place(points, fitted.lowest(means), points[static_cast<size_t>(best)]);
    auto weights = fitted.weights_at(x);
    curve.value = std::exp2(x);
    curve.weights.resize(key_.values.size(), 0);
    curve.misfit = 0;
    size_t nearest = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
      curve.weights[kept[i]] = weights[i];
      const auto there = fitted.weights_at(points[i]);
      const double value = std::inner_product(there.begin(), there.end(), means.begin(), 0.0);
      curve.misfit = std::max(curve.misfit, std::abs(value - means[i]));
      if (std::abs(points[i] - x) < std::abs(points[nearest] - x)) nearest = i;
    }
    found_.search.chosen.front().tried = kept[nearest];
    return weights;
  }

  /// The place at which the arm is compared: its curve is lowest at `lowest`, its means at `best`.
  double place(const std::vector<double>& points, double lowest, double best) {
    const auto [least, most] = std::ranges::minmax(points);
    if (lowest > least && lowest < most) return lowest;
    found_.curve->vertex = lowest == best ? Vertex::open : Vertex::flat;
    if (lowest == best)
      found_.search.chosen.front().at_edge[key_.path] =
          lowest == least ? config::End::smallest : config::End::largest;
    return best;
  }

  const config::Study& study_;
  const config::TunedKey& key_;
  std::map<int64_t, SeedRuns> runs_;  // of each seed, at the key's values
  TunedArm found_;
};

}  // namespace

AtVertices at_vertices(const config::Study& study, const records::StudyRuns& runs) {
  ArmCurve::Results results;
  for (const auto& run : runs.results) results[records::label(run.task, run.arm, run.seed)] = &run;
  std::set<std::string> left_out;
  for (const auto& run : runs.left_out)
    left_out.insert(records::label(run.task, run.arm, run.seed));
  AtVertices found{.runs = {.folder = runs.folder, .missing = runs.missing}};
  for (const auto& arm : study.tuning->arms)
    found.arms.push_back(ArmCurve(study, arm, results, left_out).take(found.runs.results));
  found.study = nearest_runs(study, found.arms);
  return found;
}

config::Study nearest_runs(config::Study study, const std::vector<TunedArm>& arms) {
  if (!study.by_curve()) return study;
  const auto& key = study.tuning->keys.front();
  std::map<std::pair<std::string, std::string>, std::string> points;  // of task and arm
  for (const auto& [search, sensitivity, curve, gain] : arms)
    points[{search.task, search.arm}] =
        config::point_of(key, key.values[search.chosen.front().tried.value_or(0)]);
  std::erase_if(study.runs, [&](const config::RunSpecification& run) {
    return run.point != points[{run.task, run.arm}];
  });
  return study;
}

std::string curve_remark(const TunedArm& arm, const TuningEvidence& tuning) {
  std::vector<std::string> remarks;
  if (arm.curve->weights.empty()) remarks.emplace_back("no curve");
  if (arm.curve->vertex == Vertex::flat) remarks.emplace_back("flat: the best tried value");
  if (arm.curve->vertex == Vertex::open)
    remarks.push_back(fmt::format("open: {} at the edge of its grid", tuning.keys.front().name));
  for (const auto& tried : arm.search.tried)
    if (has_diverged_run(tried))
      remarks.push_back(fmt::format("{} left out (diverged)", tried.values.front()));
  return fmt::format("{}", fmt::join(remarks, "; "));
}

std::vector<std::string> curve_notes(const Evidence& evidence) {
  std::vector<std::string> notes;
  if (!evidence.tuning || evidence.tuning->by != config::TunedBy::curve) return notes;
  const auto& tuning = *evidence.tuning;
  notes.push_back(fmt::format(
      "tune.by: curve: every score is that of each seed's own curve over the logarithm of {}, at "
      "the vertex of its arm's mean {}; steps, tokens, time and outputs are of the runs nearest to "
      "it.",
      tuning.keys.front().path, display_name(tuning.metric)));
  for (const auto& arm : tuning.arms) {
    const auto& [task, name, tried, open, chosen] = arm.search;
    if (arm.curve->weights.empty() && open == 0)
      notes.push_back(fmt::format(
          "{}/{}: no claim: a curve takes {} values, and runs diverged at {} of {}.", task, name,
          config::kFewestPoints, std::ranges::count_if(tried, has_diverged_run), tried.size()));
    if (auto sentence = gain_sentence(arm, evidence); !sentence.empty())
      notes.push_back(std::move(sentence));
  }
  return notes;
}

}  // namespace ablate::analysis
