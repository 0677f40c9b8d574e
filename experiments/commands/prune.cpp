#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "data/shared_text.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/lines.h"
#include "experiments/errors.h"
#include "experiments/records/run_start.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/pruning.h"
#include "experiments/run/run_data.h"
#include "training/process/machine.h"
#include "training/storage/finite_json.h"
#include "training/weights.h"

namespace ablate::commands {
namespace {

struct PruneRequest {
  std::string run, to, checkpoint, data;
  std::optional<int64_t> remove;
  run::PruneOptions options;
  bool json = false;
};

/// The scores of the whole model.
const run::PrunePoint& whole(const run::Pruning& pruning) { return pruning.points.front(); }

std::string pruning_table(const run::Pruning& pruning) {
  const bool each = !pruning.alone.empty();
  std::string text = fmt::format("| order | head | importance |{}\n|---|---|---|{}\n",
                                 each ? " validation nll without it alone | difference |" : "",
                                 each ? "---|---|" : "");
  for (size_t i = 0; i < pruning.heads.size(); ++i) {
    const auto& [head, importance] = pruning.heads[i];
    text += fmt::format("| {} | {} | {:.4f} |", i + 1, text_of(head), importance);
    if (each)
      text += fmt::format(" {:.4f} | {:+.4f} |", pruning.alone[i].nll,
                          pruning.alone[i].nll - whole(pruning).nll);
    text += "\n";
  }
  text +=
      "\n| heads removed | share | validation nll | perplexity | token accuracy |\n"
      "|---|---|---|---|---|\n";
  for (const auto& point : pruning.points)
    text += fmt::format(
        "| {} of {} | {:.3f} | {:.4f} | {:.3f} | {:.4f} |\n", point.removed, pruning.heads.size(),
        static_cast<double>(point.removed) / static_cast<double>(pruning.heads.size()), point.nll,
        std::exp(point.nll), point.token_accuracy);
  if (const auto unknown = unknown_text(pruning.unknown_targets); !unknown.empty())
    text += "\nValidation set: " + unknown + ".\n";
  return text;
}

nlohmann::json json_of(const run::Pruning& pruning) {
  nlohmann::json all{{"heads", nlohmann::json::array()},
                     {"points", nlohmann::json::array()},
                     {"unknown_targets", pruning.unknown_targets}};
  for (size_t i = 0; i < pruning.heads.size(); ++i) {
    all["heads"].push_back(
        {{"head", text_of(pruning.heads[i].head)}, {"importance", pruning.heads[i].importance}});
    if (!pruning.alone.empty()) all["heads"].back()["nll_without"] = pruning.alone[i].nll;
  }
  for (const auto& point : pruning.points)
    all["points"].push_back(
        {{"removed", point.removed}, {"nll", point.nll}, {"token_accuracy", point.token_accuracy}});
  return training::without_non_finite(all);
}

void check_request(const PruneRequest& request) {
  if (request.to.empty() != !request.remove)
    throw UsageError("--to and --remove belong together: give a folder and a number of heads");
  if (!request.to.empty() && std::filesystem::exists(request.to))
    throw UsageError(request.to + " exists; choose another --to or remove it");
}

/// Writes `loaded`, of which the first heads were removed.
void write_pruned_run(const PruneRequest& request, const run::LoadedRun& loaded,
                      const run::Pruning& pruning, records::RunResult result) {
  std::vector<std::string> removed;
  for (int64_t i = 0; i < *request.remove; ++i)
    removed.push_back(text_of(pruning.heads[static_cast<size_t>(i)].head));
  auto environment = records::recorded_environment(records::RunFolder(request.run));
  environment["pruned_from"] = std::filesystem::absolute(request.run).string();
  environment["pruned_heads"] = removed;
  result.study = result.task = "prune";
  result.arm = "pruned";
  if (const auto source = records::read_result(records::RunFolder(request.run)))
    result.earlier_steps = records::all_steps(*source);
  result.weights = fmt::format("{} without {}", loaded.weights, fmt::join(removed, ", "));
  run::write_new_run(
      request.to,
      {.experiment = loaded.experiment,
       .tokenizers = loaded.tokenizers,
       .weights = training::weights_of(*loaded.model),
       .environment = environment,
       .files = {{records::kPruningTableFile, pruning_table(pruning)},
                 {records::kResultFile, training::sealed_json(training::to_json(result))}}});
  std::cerr << "written: " << request.to << "\n";
}

/// Writes the run without the least important heads, scored like the whole one.
void write_pruned(const PruneRequest& request, run::LoadedRun& loaded, const data::Corpus& corpus,
                  const run::Pruning& pruning) {
  if (data::test_in_validation(corpus, loaded.experiment.data))
    std::cerr << "note: the heads are chosen by the text that tests the pruned model, so these "
                 "scores flatter it\n";
  const auto before = run::evaluate(loaded.translator(), corpus.tests, loaded.experiment);
  run::remove_heads(loaded, pruning.heads, *request.remove);
  const auto validation = run::validation_of(loaded, corpus);
  auto after = run::evaluate(loaded.translator(), corpus.tests, loaded.experiment);
  auto& out = request.json ? std::cerr : std::cout;
  for (size_t i = 0; i < after.tests.size(); ++i)
    out << "whole, " << score_line(before.tests[i]) << "\npruned, " << score_line(after.tests[i])
        << "\n";
  write_pruned_run(request, loaded, pruning,
                   run::result_of(loaded.model, validation, std::move(after)));
}

void prune_run(const PruneRequest& request) {
  check_request(request);
  at::set_num_threads(static_cast<int>(training::available_cores()));
  auto loaded = run::load_run(request.run, request.checkpoint);
  const auto corpus =
      run::read_corpus_of(records::RunFolder(request.run), loaded.experiment, request.data);
  const auto pruning = prune(loaded, corpus, request.options);
  const auto heads = std::ssize(pruning.heads);
  if (request.remove.value_or(0) > heads)
    throw UsageError(
        fmt::format("--remove must be at most {}, the heads that {} has", heads, request.run));
  for (const auto& sentence : run::sides_without_heads(loaded.experiment.model))
    std::cerr << sentence << "\n";
  std::cout << (request.json ? json_of(pruning).dump() + "\n" : pruning_table(pruning))
            << std::flush;
  if (request.remove) write_pruned(request, loaded, corpus, pruning);
}

}  // namespace

void add_prune(CLI::App& app) {
  auto request = std::make_shared<PruneRequest>();
  auto* verb = app.add_subcommand(
      "prune", "Rank a run's attention heads by importance and leave out the least important");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--parts", request->options.parts,
                   "Steps in which heads are removed, to the last one")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  verb->add_flag("--each", request->options.each, "Also score the model without each single head");
  verb->add_option("--remove", request->remove, "How many heads the new run is without")
      ->check(between(1, 1'000'000));
  verb->add_option("--to", request->to, "The new run folder; absent: no folder");
  verb->add_option("--checkpoint", request->checkpoint,
                   "Which weights; absent: those that the run was evaluated with")
      ->type_name(kCheckpoint);
  verb->add_option("--data", request->data,
                   "Folder of relative data paths; absent: as in training");
  verb->add_flag("--json", request->json, "Print one JSON object");
  verb->footer(
      "Importance is that of Michel et al. 2019, section 4.1, on the validation set.\n"
      "Example:\n"
      "  ablate prune runs/multi30k/text/base/seed-1 --remove 12 --to runs/pruned");
  verb->callback([request] { prune_run(*request); });
}

}  // namespace ablate::commands
