#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/lines.h"
#include "experiments/commands/number_flags.h"
#include "experiments/errors.h"
#include "experiments/records/run_start.h"
#include "experiments/report/page/page.h"
#include "experiments/report/page/parts.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/moefication/moefication.h"
#include "experiments/run/run_data.h"
#include "training/checkpoint/checkpoint.h"
#include "training/storage/finite_json.h"
#include "training/weights.h"

namespace ablate::commands {
namespace {

struct MoefyRequest {
  std::string run, to, checkpoint, data;
  std::string grouping = "coactivation", router = "network";
  run::MoefyOptions options;
  int64_t threads = 1;
};

models::RouterOptions router_of(const std::string& word) {
  if (word == models::OracleRouter::name) return models::OracleRouter{};
  if (word == models::SimilarityRouter::name) return models::SimilarityRouter{};
  if (word == models::NetworkRouter::name) return models::NetworkRouter{};
  throw UsageError("--router must be oracle, similarity or network");
}

std::string table(const run::Moefied& moefied, int64_t experts) {
  std::string text = fmt::format(
      "| experts used | share of neurons | activity captured | validation perplexity | token "
      "accuracy | of the dense model's | feed-forward time / dense |\n|---|---|---|---|---|---|---|"
      "\n| dense | 1.000 | 1.000 | {:.3f} | {:.4f} | 1.000 | 1.00 |\n",
      moefied.dense_perplexity, moefied.dense_token_accuracy);
  for (const auto& point : moefied.points)
    text += fmt::format("| {} of {} | {:.3f} | {:.3f} | {:.3f} | {:.4f} | {:.3f} | {:.2f} |\n",
                        point.active, experts,
                        static_cast<double>(point.active) / static_cast<double>(experts),
                        point.captured, point.perplexity, point.token_accuracy,
                        point.token_accuracy / moefied.dense_token_accuracy, point.time);
  if (const auto unknown = unknown_text(moefied.unknown_targets); !unknown.empty())
    text += "\nValidation set: " + unknown + ".\n";
  return text;
}

report::Markup curve(const run::Moefied& moefied) {
  report::LineChart chart{
      .title = "Kept quality, captured activity and time against the experts used",
      .x_label = "experts used",
      .y_label = "share"};
  for (const auto* name : {"token accuracy / dense", "activity captured", "time / dense"})
    chart.lines.push_back({.name = name, .look = {chart.lines.size()}, .points = {}, .spread = {}});
  for (const auto& point : moefied.points) {
    const auto experts = static_cast<double>(point.active);
    chart.lines[0].points.push_back({experts, point.token_accuracy / moefied.dense_token_accuracy});
    chart.lines[1].points.push_back({experts, point.captured});
    chart.lines[2].points.push_back({experts, point.time});
  }
  return report::figure(chart, "");
}

void write_run(const MoefyRequest& request, const run::Moefied& moefied,
               const run::LoadedRun& dense, records::RunResult result) {
  auto environment = records::recorded_environment(records::RunFolder(request.run));
  environment["moefied_from"] = std::filesystem::absolute(request.run).string();
  result.study = result.task = "moefy";
  result.arm = "moefied";
  result.weights = dense.weights;
  const auto markdown = table(moefied, request.options.experts);
  const auto content =
      report::heading("h1", "MoEfication of " + request.run) + curve(moefied) +
      report::element("pre", {}, report::element("code", {}, report::text(markdown)));
  run::write_new_run(
      request.to,
      {.experiment = moefied.experiment,
       .tokenizers = dense.tokenizers,
       .weights = training::weights_of(*moefied.model),
       .environment = environment,
       .files = {{records::kMoeficationTableFile, markdown},
                 {records::kMoeficationPageFile, report::page("MoEfication", content)},
                 {records::kResultFile, training::sealed_json(training::to_json(result))}}});
}

void moefy_run(MoefyRequest request) {
  at::set_num_threads(static_cast<int>(request.threads));
  request.options.grouping = value_of<training::Grouping>("--grouping", request.grouping);
  request.options.router = router_of(request.router);
  if (std::filesystem::exists(request.to))
    throw UsageError(request.to + " exists; choose another --to or remove it");
  auto run = run::load_run(request.run, request.checkpoint);
  const auto corpus =
      run::read_corpus_of(records::RunFolder(request.run), run.experiment, request.data);
  const auto moefied = moefy(run, corpus, request.options);
  std::cout << table(moefied, request.options.experts) << std::flush;
  const auto before = run::evaluate(run.translator(), corpus.tests, run.experiment);
  run::LoadedRun mixture{moefied.experiment, moefied.model, run.tokenizers, run.format,
                         run.weights};
  auto after = run::evaluate(mixture.translator(), corpus.tests, mixture.experiment);
  for (size_t i = 0; i < after.tests.size(); ++i)
    std::cout << "dense, " << score_line(before.tests[i]) << "\nmoefied, "
              << score_line(after.tests[i]) << "\n";
  const auto validation = run::validation_of(mixture, corpus);
  write_run(request, moefied, run, run::result_of(mixture.model, validation, std::move(after)));
  std::cerr << "written: " << request.to << "\n";
}

}  // namespace

void add_moefy(CLI::App& app) {
  auto request = std::make_shared<MoefyRequest>();
  auto* verb = app.add_subcommand(
      "moefy", "Split a trained model's ReLU feed-forwards into experts (MoEfication)");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--to", request->to, "The new run folder")->required();
  verb->add_option("--experts", request->options.experts, "Experts of each feed-forward")
      ->check(between(1, 1024))
      ->capture_default_str();
  verb->add_option("--active", request->options.active, "Experts that a position uses")
      ->check(between(1, 1024))
      ->capture_default_str();
  verb->add_option("--grouping", request->grouping, "How neurons are grouped")
      ->type_name(type_of_words(config::choices_of(training::Grouping{})))
      ->capture_default_str();
  verb->add_option("--router", request->router, "How experts are chosen")
      ->type_name(type_of_words({"oracle", "similarity", "network"}))
      ->capture_default_str();
  verb->add_option("--positions", request->options.positions, "Positions recorded")
      ->check(between(100, 10'000'000))
      ->capture_default_str();
  verb->add_option("--seed", request->options.seed, "Of groups and router")->capture_default_str();
  add_checkpoint_flag(*verb, request->checkpoint);
  verb->add_option("--data", request->data,
                   "Folder of relative data paths; absent: as in training");
  verb->add_option("--threads", request->threads, "CPU threads, also for the measured times")
      ->check(between(1, 1024))
      ->capture_default_str();
  verb->footer("Example:\n  ablate moefy runs/multi30k/text/base/seed-1 --to runs/moefied");
  verb->callback([request] { moefy_run(*request); });
}

}  // namespace ablate::commands
