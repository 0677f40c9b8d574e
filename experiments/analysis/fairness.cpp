#include "experiments/analysis/fairness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/config/study/match.h"
#include "experiments/errors.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {
namespace {

std::string run_name(const records::RunResult& run) {
  return records::label(run.task, run.arm, run.seed);
}

/// Updates of the run's weights: its own or, if it was only evaluated, those of the run that it
/// started from.
int64_t steps_of_weights(const records::RunResult& result) {
  return result.steps > 0 ? result.steps : result.earlier_steps;
}

/// The training options of the weights of a result; null if the study does not have them.
const training::TrainingOptions* training_of(const config::Study& study,
                                             const records::RunResult& result) {
  const auto* trained = config::trained_by(study.configurations, result.task, result.arm);
  if (trained != nullptr) return &trained->experiment.training;
  const auto run = std::ranges::find_if(study.runs, [&](const config::RunSpecification& planned) {
    return planned.task == result.task && config::folder_arm(planned) == result.arm;
  });
  return run == study.runs.end() ? nullptr : &run->experiment.training;
}

/// Whether patience or a budget in another unit than steps ends the run.
bool ends_otherwise(const config::Study& study, const records::RunResult& result) {
  const auto* options = training_of(study, result);
  return options != nullptr && (options->patience > 0 || !training::reads_steps(options->budget));
}

/// Whether the run's number of updates depends on the speed of its machine.
bool is_timed(const config::Study& study, const records::RunResult& result) {
  const auto* options = training_of(study, result);
  return result.steps > 0 && options != nullptr && training::is_timed(options->budget);
}

[[noreturn]] void refuse_comparison(const records::RunResult& run, const records::RunResult& other,
                                    const std::string& what, const std::string& name) {
  throw UsageError(
      fmt::format("{} and {} {}; they cannot be compared. If the difference is intended, write in "
                  "the study: compare: {{ allow: [{}] }}",
                  run_name(run), run_name(other), what, name));
}

/// Whether `match` has solved for a value of the arm.
bool is_matched(const config::Study& study, const std::string& task, const std::string& arm) {
  const auto* run = config::find_run(study, task, arm);
  return run != nullptr && std::ranges::any_of(run->origins, [](const auto& origin) {
           return origin.second == config::kMatchSource;
         });
}

}  // namespace

void check_fair(const config::Study& study, std::span<const records::RunResult> results) {
  if (!study.compare) return;
  std::map<std::string, const records::RunResult*> first;
  for (const auto& result : results) {
    const auto& other = *first.try_emplace(result.task, &result).first->second;
    if (!config::allows(*study.compare, config::Uneven::data) && !result.data_sha256.empty() &&
        !other.data_sha256.empty() && result.data_sha256 != other.data_sha256)
      refuse_comparison(other, result, "saw different data", "data");
    const auto& metric = config::metric_of(*study.compare, result.task);
    if (!records::scores_classes(result) && config::find_metric(metric)->per_token &&
        result.target_tokenizer_sha256 != other.target_tokenizer_sha256)
      throw UsageError(fmt::format(
          "{} and {} have different tokenizers, and {} is measured per token; compare them by "
          "nats_per_character, bits_per_character or a score of the outputs (compare.metric)",
          run_name(other), run_name(result), metric));
    const auto steps = steps_of_weights(result), others = steps_of_weights(other);
    if (!config::allows(*study.compare, config::Uneven::steps) && steps != others &&
        !ends_otherwise(study, result) && !ends_otherwise(study, other))
      refuse_comparison(other, result, fmt::format("trained {} and {} steps", others, steps),
                        "steps");
    if (!config::allows(*study.compare, config::Uneven::hardware) && is_timed(study, result) &&
        other.steps > 0 && !result.hardware.empty() && !other.hardware.empty() &&
        result.hardware != other.hardware)
      refuse_comparison(other, result,
                        fmt::format("had a budget in seconds on different hardware, {} and {}",
                                    other.hardware, result.hardware),
                        "hardware");
  }
}

namespace {

struct Flaw {
  double (*of)(const records::TestScores&);
  const char* what;     // before the arms in the note
  const char* meaning;  // after the arms
  std::optional<data::Compared> only = {};
  bool share = false;
};

template <auto Member>
double count_of(const records::TestScores& test) {
  return static_cast<double>(test.*Member);
}

constexpr auto kAltered = count_of<&records::TestScores::altered_references>;

constexpr auto kFlaws = std::to_array<Flaw>(
    {{.of = count_of<&records::TestScores::unknown_targets>,
      .what = "unknown tokens among the targets",
      .meaning = "nats and bits per character count their text at ln 257 nats per byte; perplexity "
                 "and token accuracy treat an unknown token like any other",
      .share = true},
     {.of = count_of<&records::TestScores::cut_outputs>,
      .what = "outputs cut at the greatest length",
      .meaning = "see decoding.max_length and decoding.max_ratio"},
     {.of = kAltered,
      .what = "targets that the tokenizer writes otherwise",
      .meaning = "exact match and word error rate compare both sides as it normalises them, and "
                 "nats and bits per character are of what it writes",
      .only = data::Compared::text},
     {.of = kAltered,
      .what = "lines that the tokenizer writes otherwise",
      .meaning = "nats and bits per character are of what it writes",
      .only = data::Compared::nothing},
     {.of = count_of<&records::TestScores::unwritable_references>,
      .what = "targets that the tokenizer cannot write",
      .meaning = "no output is an exact match of them",
      .only = data::Compared::text}});

/// The scores of a run on a test set.
struct ScoredTest {
  const records::RunResult& run;
  const records::TestScores& test;
};

/// "base 3.2 %", "base 4 of 100": the most of any seed, of each arm with the flaw.
std::vector<std::string> figures_of(const Flaw& flaw, const std::vector<ScoredTest>& all) {
  std::vector<ScoredTest> flawed;
  std::ranges::copy_if(all, std::back_inserter(flawed), [&](const ScoredTest& one) {
    return flaw.of(one.test) > 0 && flaw.only.value_or(one.test.compared) == one.test.compared;
  });
  std::vector<std::string> figures;
  for (const auto& [arm, scored] : grouped(flawed, [](const auto& one) { return one.run.arm; })) {
    double most = 0;
    for (const auto& one : scored) most = std::max(most, flaw.of(one.test));
    figures.push_back(
        flaw.share ? fmt::format("{} {} %", arm, percent_figure(100 * most))
                   : fmt::format("{} {:.0f} of {}", arm, most, scored.front().test.examples));
  }
  return figures;
}

constexpr double kAlikeSize = 0.02, kLargeTable = 1.0 / 3;

double table_share(const ArmEvidence& arm) {
  return static_cast<double>(arm.table_parameters) / static_cast<double>(arm.parameters);
}

}  // namespace

void add_test_flaws(std::span<const records::RunResult> results, std::vector<std::string>& notes) {
  std::vector<ScoredTest> all;
  for (const auto& run : results)
    for (const auto& test : run.tests) all.push_back({run, test});
  const auto place = [](const ScoredTest& one) {
    return std::tuple(one.run.task, one.test.name, one.test.examples);
  };
  for (const auto& [key, scored] : grouped(all, place))
    for (const auto& flaw : kFlaws)
      if (const auto figures = figures_of(flaw, scored); !figures.empty())
        notes.push_back(fmt::format("{} ({}): {}: {} (the most of any seed); {}.", std::get<0>(key),
                                    std::get<1>(key), flaw.what, fmt::join(figures, ", "),
                                    flaw.meaning));
}

void add_token_tables(const Evidence& evidence, std::vector<std::string>& notes) {
  for (const auto& task : evidence.tasks) {
    std::vector<std::string> sizes;
    double largest = 0;
    bool alike = true;
    for (const auto& arm : task.arms) {
      if (arm.parameters == 0) continue;
      const auto* baseline = baseline_of(task, arm);
      const auto size = static_cast<double>(arm.parameters);
      if (baseline != nullptr && baseline->parameters > 0)
        alike =
            alike && std::abs(size / static_cast<double>(baseline->parameters) - 1) <= kAlikeSize;
      largest = std::max(largest, table_share(arm));
      sizes.push_back(fmt::format("{} {} of {}", arm.name,
                                  count_figure(arm.parameters - arm.table_parameters),
                                  count_figure(arm.parameters)));
    }
    if (!alike && largest > kLargeTable)
      notes.push_back(fmt::format(
          "{}: tables of tokens are up to {:.0f} % of a model. Parameters without them: {}.",
          task.name, 100 * largest, fmt::join(sizes, ", ")));
  }
}

void add_unequal_sizes(const Evidence& evidence, const config::Study& study,
                       std::vector<std::string>& notes) {
  for (const auto& task : evidence.tasks) {
    std::vector<std::string> sizes;
    for (const auto& arm : task.arms) {
      const auto* baseline = baseline_of(task, arm);
      if (baseline == nullptr || baseline->parameters == 0 || arm.parameters == 0) continue;
      const double ratio =
          static_cast<double>(arm.parameters) / static_cast<double>(baseline->parameters);
      if (std::abs(ratio - 1) > config::kMatchTolerance && is_matched(study, task.name, arm.name))
        sizes.push_back(fmt::format("{} has {} parameters and {} has {}", arm.name, arm.parameters,
                                    baseline->name, baseline->parameters));
    }
    if (!sizes.empty())
      notes.push_back(fmt::format(
          "{}: match has not made the arms equally large: {}. It counted with another vocabulary "
          "than the training text has given; name its size (tokenizer.vocabulary).",
          task.name, fmt::join(sizes, "; ")));
  }
}

}  // namespace ablate::analysis
