#include "experiments/analysis/statistics/power.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/make_evidence.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
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
  double difference = 0;
  int64_t arms = 0;  // 0: as many comparisons as the pilot has
  bool json = false;
};

/// What a study of the pilot's scatter needs to show a difference in one of its comparisons.
struct PowerPlan {
  std::string task, arm, test_set, metric;
  int64_t pilot_seeds = 0, comparisons = 0;
  double deviation = 0;          // of the differences between seeds
  std::optional<int64_t> seeds;  // absent: more than kMostSeeds
};

constexpr int64_t kMostSeeds = 100;

std::vector<PowerPlan> plans_of(const analysis::Evidence& pilot, const PowerRequest& request) {
  std::vector<PowerPlan> plans;
  for (const auto& task : pilot.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells) {
        if (!cell.primary || !cell.contrast || cell.contrast->differences.size() < 2) continue;
        const double deviation = statistics::deviation(cell.contrast->differences);
        if (!std::isfinite(deviation) || deviation <= 0) continue;
        PowerPlan plan{.task = task.name,
                       .arm = arm.name,
                       .test_set = cell.test_set,
                       .metric = cell.metric,
                       .pilot_seeds = std::ssize(cell.contrast->differences),
                       .comparisons = request.arms > 0 ? request.arms : task.comparisons,
                       .deviation = deviation};
        plan.seeds =
            statistics::seeds_for(request.difference / deviation, plan.comparisons, kMostSeeds);
        plans.push_back(std::move(plan));
      }
  if (plans.empty())
    throw UsageError(request.folder +
                     " has no comparison whose differences between seeds scatter; a pilot needs a "
                     "baseline, an arm and two finished seeds or more");
  return plans;
}

std::string power_table(const std::vector<PowerPlan>& plans, double difference) {
  report::Grid grid{
      .title = fmt::format("Seeds that show a difference of {} in 80 % of studies", difference),
      .headings = {"task", "arm", "test set", "metric", "deviation", "pilot seeds", "comparisons",
                   "seeds"},
      .names = 4};
  for (const auto& plan : plans)
    grid.rows.push_back(
        {{plan.task},
         {plan.arm},
         {plan.test_set},
         {analysis::display_name(plan.metric)},
         {analysis::format_metric(plan.deviation, plan.metric)},
         {std::to_string(plan.pilot_seeds)},
         {std::to_string(plan.comparisons)},
         {plan.seeds ? std::to_string(*plan.seeds) : fmt::format("> {}", kMostSeeds)}});
  grid.note =
      "The deviation is that of the differences between seeds. That of few pilot seeds is "
      "uncertain: "
      "three know it to a factor of about 3.";
  return report::layout(grid);
}

nlohmann::json as_json(const PowerPlan& plan) {
  nlohmann::json json{{"task", plan.task},
                      {"arm", plan.arm},
                      {"test_set", plan.test_set},
                      {"metric", plan.metric},
                      {"pilot_seeds", plan.pilot_seeds},
                      {"comparisons", plan.comparisons},
                      {"deviation", plan.deviation},
                      {"seeds", nullptr}};
  if (plan.seeds) json["seeds"] = *plan.seeds;
  return json;
}

void show_power(const PowerRequest& request) {
  const exchange::OpenedStudy opened(request.folder);
  const auto& folder = opened.folder();
  const auto study = records::read_frozen(folder, run::counted_parameters());
  if (!study.compare)
    throw UsageError(request.folder + " declares no comparison; add compare to the pilot's study");
  const auto plans =
      plans_of(analysis::make_evidence(study, records::read_runs(study, folder)), request);
  if (!request.json) std::cout << power_table(plans, request.difference);
  for (const auto& plan : plans)
    if (request.json) std::cout << as_json(plan).dump() << "\n";
}

}  // namespace

void add_power(CLI::App& app) {
  auto request = std::make_shared<PowerRequest>();
  auto* verb = app.add_subcommand("power", "Say how many seeds a study needs, from a pilot");
  verb->add_option("pilot", request->folder,
                   "The folder of a study with a few seeds, or a file of ablate pack")
      ->required();
  verb->add_option("--difference", request->difference,
                   "The smallest difference of the compared metric that should be shown")
      ->required()
      ->check(above_zero());
  verb->add_option("--arms", request->arms,
                   "Comparisons of the study that is planned; default: as many as the pilot has")
      ->check(between(1, 10000));
  verb->add_flag("--json", request->json, "Print one line of JSON for each comparison");
  verb->footer(
      "Trains nothing. Takes the deviation of the pilot's differences between seeds, and simulates "
      "the joint sign-flip test (docs/statistics.md). Choose seeds for the study that the pilot "
      "did not use.\n"
      "Examples:\n"
      "  ablate run study.yaml --seeds 101,102,103 --output pilot\n"
      "  ablate power pilot/study --difference 0.01 --arms 4");
  verb->callback([request] { show_power(*request); });
}

}  // namespace ablate::commands
