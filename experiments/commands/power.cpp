#include "experiments/analysis/statistics/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/family.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/make_evidence.h"
#include "experiments/analysis/statistics/e_value.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/significance.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/number_flags.h"
#include "experiments/config/study/study.h"
#include "experiments/errors.h"
#include "experiments/exchange/pack.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/report/table/grid.h"
#include "experiments/report/table/layout.h"
#include "experiments/run/model_cost.h"

namespace ablate::commands {
namespace {

struct PowerRequest {
  std::string folder;
  std::optional<double> difference;
  int64_t arms = 0;  // 0: as many comparisons as the pilot has
  int64_t look = 0;  // of the study that is planned; 0: it is not registered
  bool json = false;
};

/// What a study of the pilot's scatter needs to show what it claims of one of its comparisons.
struct PowerPlan {
  std::string task, arm, test_set, metric;
  statistics::Aim aim = statistics::Aim::difference;
  double size = 0;        // of the difference, or the margin
  double difference = 0;  // that the arm has, or its loss, if its margin is tested
  int64_t pilot_seeds = 0, comparisons = 0;
  double deviation = 0;          // of the differences between seeds
  std::optional<int64_t> seeds;  // absent: more than kMostSeeds
};

constexpr int64_t kMostSeeds = 100;

/// A margin without a claim leaves open what is to be shown; then --difference decides.
statistics::Aim aim_of(const config::ArmClaim& claim, const PowerRequest& request) {
  using statistics::Aim;
  if (claim.kind == config::ClaimKind::noninferior) return Aim::no_loss;
  if (claim.kind == config::ClaimKind::equal) return Aim::equality;
  return claim.kind || !claim.margin || request.difference ? Aim::difference : Aim::equality;
}

/// Throws UsageError if the arm needs --difference, or another one.
void check_difference(const analysis::ArmEvidence& arm, const config::ArmClaim& claim,
                      const PowerRequest& request) {
  const bool differs = aim_of(claim, request) == statistics::Aim::difference;
  if (differs && !request.difference)
    throw UsageError(fmt::format(
        "--difference is missing: the smallest difference that should be shown of {}", arm.name));
  if (!request.difference || !claim.margin) return;
  if (differs && *request.difference <= *claim.margin)
    throw UsageError(fmt::format(
        "--difference {} is not above compare's margin of {} for {}, and a smaller difference than "
        "the margin counts as none; give a larger one",
        *request.difference, *claim.margin, arm.name));
  if (!differs && *request.difference >= *claim.margin)
    throw UsageError(
        fmt::format("--difference {} is not below compare's margin of {} for {}, so no number of "
                    "seeds can show "
                    "that it is; give a smaller one, or none for an arm as good as the baseline",
                    *request.difference, *claim.margin, arm.name));
}

PowerPlan plan_of(const analysis::TaskEvidence& task, const analysis::ArmEvidence& arm,
                  const analysis::Cell& cell, const PowerRequest& request) {
  const auto& contrast = *cell.contrast;
  check_difference(arm, contrast.claim, request);
  PowerPlan plan{.task = task.name,
                 .arm = arm.name,
                 .test_set = cell.test_set,
                 .metric = cell.metric,
                 .aim = aim_of(contrast.claim, request),
                 .difference = request.difference.value_or(0),
                 .pilot_seeds = std::ssize(contrast.differences),
                 .deviation = statistics::deviation(contrast.differences)};
  const bool differs = plan.aim == statistics::Aim::difference;
  plan.size = differs ? plan.difference : *contrast.claim.margin;
  const auto family = differs ? task.comparisons : task.with_margins;
  plan.comparisons = request.arms > 0 ? request.arms : family;
  return plan;
}

bool scatters(const analysis::Cell& cell) {
  if (!cell.primary || !cell.contrast || cell.contrast->differences.size() < 2) return false;
  const double deviation = statistics::deviation(cell.contrast->differences);
  return std::isfinite(deviation) && deviation > 0;
}

statistics::Testing testing_of(const config::Comparison& compare) {
  return analysis::testing_of(compare.test, compare.correction);
}

/// Of each comparison that can be planned. Beside arms that are claimed to differ, of which the
/// request has the difference, those with a margin to keep are planned as good as the baseline.
std::vector<PowerPlan> plans_of(const analysis::Evidence& pilot, const config::Comparison& compare,
                                const PowerRequest& request) {
  std::vector<analysis::Compared> planned;
  for (const auto& one : analysis::compared_in(pilot.tasks))
    if (!one.arm.control && scatters(one.cell)) planned.push_back(one);
  const auto differs = [&](const analysis::Compared& one) {
    return aim_of(one.contrast().claim, request) == statistics::Aim::difference;
  };
  auto kept = request;
  if (std::ranges::any_of(planned, differs)) kept.difference.reset();
  std::vector<PowerPlan> plans;
  for (const auto& one : planned)
    plans.push_back(plan_of(one.task, one.arm, one.cell, differs(one) ? request : kept));
  if (plans.empty())
    throw UsageError(request.folder +
                     " has no comparison whose differences between seeds scatter; a pilot needs a "
                     "baseline, an arm and two finished seeds or more");
  for (auto& plan : plans)
    plan.seeds = statistics::seeds_for({.comparisons = plan.comparisons,
                                        .testing = testing_of(compare),
                                        .aim = plan.aim,
                                        .effect = plan.difference / plan.deviation,
                                        .look = request.look},
                                       plan.size / plan.deviation, kMostSeeds);
  return plans;
}

/// "a difference of 0.01", "a loss below 0.01, if it is 0.002"
std::string shown_text(const PowerPlan& plan) {
  const auto really =
      plan.difference > 0 ? fmt::format(", if it is {}", plan.difference) : std::string();
  switch (plan.aim) {
    case statistics::Aim::difference:
      return fmt::format("a difference of {}", plan.size);
    case statistics::Aim::no_loss:
      return fmt::format("a loss below {}{}", plan.size, really);
    case statistics::Aim::equality:
      return fmt::format("a difference below {}{}", plan.size, really);
  }
  return "";
}

const char* words_for(statistics::Testing testing) {
  switch (testing) {
    case statistics::Testing::t:
      return "paired t tests";
    case statistics::Testing::e_value:
      return "e-values";
    case statistics::Testing::min_p:
      return "sign flips and min-P";
    case statistics::Testing::joint:
    case statistics::Testing::holm:
      break;
  }
  return "sign flips";
}

double level_of(int64_t look) { return analysis::kLevel / statistics::look_factor(look); }

/// ", at the level 0.0076 of look 2 at its question"; empty for look 0.
std::string level_words(int64_t look) {
  if (look == 0) return "";
  return fmt::format(", at the level {:.2g} of look {} at its question", level_of(look), look);
}

std::string power_table(const std::vector<PowerPlan>& plans, const config::Comparison& compare,
                        int64_t look) {
  report::Grid grid{.title = "Seeds with which 80 % of studies show it", .columns = {}, .rows = {}};
  for (const auto* name : {"task", "arm", "test set", "metric", "to show"})
    grid.columns.push_back({.heading = name, .holds = report::Holds::names});
  for (const auto* figure : {"deviation", "pilot seeds", "comparisons", "seeds"})
    grid.columns.push_back({figure});
  for (const auto& plan : plans)
    grid.rows.push_back(
        {{plan.task},
         {plan.arm},
         {plan.test_set},
         {analysis::display_name(plan.metric)},
         {shown_text(plan)},
         {analysis::positive_figure(plan.deviation, plan.metric)},
         {std::to_string(plan.pilot_seeds)},
         {std::to_string(plan.comparisons)},
         {plan.seeds ? std::to_string(*plan.seeds) : fmt::format("> {}", kMostSeeds)}});
  grid.note = fmt::format(
      "Tested by {} (compare.test, compare.correction){}. The deviation is that of the differences "
      "between seeds. That of few pilot seeds is uncertain: the true one is half to six times that "
      "of three (95 %).",
      words_for(testing_of(compare)), level_words(look));
  return report::layout(grid);
}

nlohmann::json as_json(const PowerPlan& plan, const config::Comparison& compare, int64_t look) {
  nlohmann::json json{{"task", plan.task},
                      {"arm", plan.arm},
                      {"test_set", plan.test_set},
                      {"metric", plan.metric},
                      {"test", config::word_of(compare.test)},
                      {"shows", config::word_of(plan.aim)},
                      {"size", plan.size},
                      {"difference", plan.difference},
                      {"pilot_seeds", plan.pilot_seeds},
                      {"comparisons", plan.comparisons},
                      {"deviation", plan.deviation},
                      {"look", look},
                      {"seeds", nullptr}};
  if (plan.seeds) json["seeds"] = *plan.seeds;
  if (plan.aim == statistics::Aim::difference && compare.test == config::PairedTest::sign_flip)
    json["correction"] = config::word_of(compare.correction);
  return json;
}

void show_power(const PowerRequest& request) {
  const exchange::OpenedStudy opened(request.folder);
  const auto& folder = opened.folder();
  const auto study = records::read_frozen(folder, run::counted_parameters());
  if (!study.compare)
    throw UsageError(request.folder + " declares no comparison; add compare to the pilot's study");
  if (study.crossed)
    throw UsageError(request.folder +
                     " crosses its seeds, so that its differences share them; a pilot needs seeds "
                     "such as [101, 102, 103]");
  const auto& compare = *study.compare;
  const auto plans =
      plans_of(analysis::make_evidence(study, records::read_runs(study, folder)), compare, request);
  if (!request.json) std::cout << power_table(plans, compare, request.look);
  for (const auto& plan : plans)
    if (request.json) std::cout << as_json(plan, compare, request.look).dump() << "\n";
}

/// "3 seeds and 1 comparison", "6 seeds and 4 comparisons with a margin"
std::string counted(const statistics::Design& design, const char* more) {
  return fmt::format("{} seed{} and {} comparison{}{}", design.seeds, design.seeds == 1 ? "" : "s",
                     design.comparisons, design.comparisons == 1 ? "" : "s", more);
}

/// The fewest seeds that can show a difference of one arm alone, or that it is within its margin.
int64_t fewest_seeds(const statistics::Design& design) {
  using statistics::Testing;
  if (design.testing == Testing::t) return 2;
  const bool differs = design.aim == statistics::Aim::difference;
  const bool alone = differs && design.testing == Testing::joint;
  const auto of_signs =
      differs ? statistics::smallest_sign_flip_p : statistics::smallest_equivalence_p;
  const auto of_e_values =
      differs ? statistics::smallest_e_value_p : statistics::smallest_e_value_greater_p;
  return statistics::differences_needed(
      level_of(design.look), alone ? 1 : design.comparisons,
      design.testing == Testing::e_value ? of_e_values : of_signs);
}

void print_power_of_differences(const statistics::Design& design, const config::Comparison& compare,
                                bool test_sets_are_named, std::ostream& out) {
  const auto effect = statistics::detectable_size(design);
  out << fmt::format(
      "{} of {} {} (docs/statistics.md{}).\n", counted(design, ""),
      compare.over == config::Over::tasks ? "the mean over all tasks" : "a task",
      effect
          ? fmt::format("show a difference of {:.1f} of its standard deviations between seeds in "
                        "80 % of studies{}",
                        *effect,
                        test_sets_are_named ? "" : ", if one test set is within the trained length")
          : fmt::format("can show no difference{}; {} seeds can",
                        design.testing == statistics::Testing::min_p ? " of a single arm" : "",
                        fewest_seeds(design)),
      level_words(design.look));
}

void print_power_of_margins(statistics::Design design, std::ostream& out) {
  std::string shown;
  for (const auto& [aim, words] : {std::pair{statistics::Aim::equality, "that an arm is equal"},
                                   std::pair{statistics::Aim::no_loss, "that it is no worse"}}) {
    design.aim = aim;
    if (const auto margin = statistics::detectable_size(design))
      shown += fmt::format("{}{} if its margin is {:.1f} standard deviations of the differences",
                           shown.empty() ? "" : ", and ", words, *margin);
  }
  out << counted(design, " with a margin")
      << (shown.empty()
              ? fmt::format(" cannot show that an arm is within it; {} seeds can.\n",
                            fewest_seeds(design))
              : fmt::format(" show in 80 % of studies of arms without an effect {}.\n", shown));
}

}  // namespace

void print_power(const config::Study& study, int64_t look, std::ostream& out) {
  if (!study.compare || study.crossed) return;
  const auto& task = study.declared_settings.front();
  int64_t arms = 0, claims = 0, margins = 0;
  for (const auto& run : study.configurations) {
    if (run.task != task.name || run.arm == study.compare->baseline) continue;
    const auto claim = config::claim_of(*study.compare, run.task, run.arm);
    ++arms;
    const bool only_margin = claim.kind && config::needs_margin(*claim.kind);
    claims += only_margin || config::is_control(*study.compare, run.arm) ? 0 : 1;
    margins += claim.margin ? 1 : 0;
  }
  const auto settings =
      std::ranges::count(study.declared_settings, task.task, &config::Setting::task);
  const bool are_named =
      study.compare->test_sets.contains(task.name) || study.compare->over != config::Over::none;
  const auto sets = settings * config::count_primary_sets(*study.compare, task.name);
  statistics::Design design{.seeds = std::ssize(study.seeds),
                            .comparisons = std::max<int64_t>(1, arms * sets),
                            .testing = testing_of(*study.compare),
                            .look = look};
  if (claims > 0 || arms == 0) print_power_of_differences(design, *study.compare, are_named, out);
  design.comparisons = margins * sets;
  if (margins > 0) print_power_of_margins(design, out);
}

void add_power(CLI::App& app) {
  auto request = std::make_shared<PowerRequest>();
  auto* verb = app.add_subcommand("power", "Say how many seeds a study needs, from a pilot");
  verb->add_option("pilot", request->folder,
                   "The folder of a study with a few seeds, or a file of ablate pack")
      ->required();
  verb->add_option(
          "--difference", request->difference,
          "The smallest difference of the compared metric that should be shown; of arms that "
          "are claimed to be equal or no worse the difference, or the loss, that they "
          "have, absent, or if other arms are claimed to differ: none")
      ->check(above_zero());
  verb->add_option("--arms", request->arms,
                   "Comparisons of the study that is planned; default: as many as the pilot has")
      ->check(between(1, 10000));
  verb->add_option("--look", request->look,
                   "Which study of its question the planned one will be if it is registered "
                   "(ablate register), which lowers its level; absent: not registered")
      ->check(between(1, 1000));
  verb->add_flag("--json", request->json, "Print one line of JSON for each comparison");
  verb->footer(
      "Trains nothing. Takes the deviation of the pilot's differences between seeds, and simulates "
      "the tests by which the study decides (docs/statistics.md): those of compare.test and "
      "compare.correction, of a difference or, if it claims that an arm is equal or no worse, of "
      "its margin. Choose seeds for the study that the pilot did not use.\n"
      "Examples:\n"
      "  ablate run study.yaml --seeds 101,102,103 --output pilot\n"
      "  ablate power pilot/study --difference 0.01 --arms 4");
  verb->callback([request] { show_power(*request); });
}

}  // namespace ablate::commands
