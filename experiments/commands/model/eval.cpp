#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "experiments/cli/decoding_flags.h"
#include "experiments/cli/score_line.h"
#include "experiments/cli/shell_completion.h"
#include "experiments/commands/model/model_commands.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/load_run.h"
#include "experiments/run/run_data.h"
#include "training/process/machine.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

struct EvalRequest {
  std::string run;
  std::string checkpoint;
  std::string data;
  cli::DecodingFlags decoding;
  bool json = false;
};

void print_evaluation(const run::Evaluation& evaluation, const std::string& weights) {
  std::cout << "weights: " << weights << "\n";
  for (const auto& scores : evaluation.tests) std::cout << cli::score_line(scores) << "\n";
  if (evaluation.bleu_signature.empty()) return;
  std::cout << "BLEU: " << evaluation.bleu_signature << "\n"
            << "chrF: " << evaluation.chrf_signature << "\n";
}

void evaluate_all(const EvalRequest& request) {
  at::set_num_threads(static_cast<int>(training::available_cores()));
  auto loaded = run::load_run(request.run, request.checkpoint);
  loaded.experiment.decoding = request.decoding.over(loaded.experiment);
  const auto corpus =
      run::read_corpus_of(records::RunFolder(request.run), loaded.experiment, request.data);
  if (loaded.weights == "best" && data::tests_on_validation(loaded.experiment.data))
    std::cerr << "note: the best checkpoint was chosen by the text that tests it here, so these "
                 "scores flatter it\n";
  const auto evaluation = run::evaluate(loaded.translator(), corpus.tests, loaded.experiment);
  if (!request.json) return print_evaluation(evaluation, loaded.weights);
  nlohmann::json all{{"weights", loaded.weights},
                     {"bleu_signature", evaluation.bleu_signature},
                     {"chrf_signature", evaluation.chrf_signature},
                     {"tests", nlohmann::json::array()}};
  for (const auto& scores : evaluation.tests) all["tests"].push_back(training::to_json(scores));
  std::cout << all.dump() << "\n";
}

}  // namespace

void add_eval(CLI::App& app) {
  auto request = std::make_shared<EvalRequest>();
  auto* verb = app.add_subcommand("eval", "Score a run's test sets again");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--checkpoint", request->checkpoint,
                   "Which weights; absent: those that the run was evaluated with")
      ->type_name(cli::kCheckpoint);
  verb->add_option("--data", request->data,
                   "Where relative data paths start; absent: where they did in training");
  request->decoding.add(*verb);
  verb->add_flag("--json", request->json, "Print one JSON object");
  verb->footer(
      "Example:\n  ablate eval runs/multi30k/text/base/seed-1 --checkpoint averaged --beam 5");
  verb->callback([request] { evaluate_all(*request); });
}

}  // namespace ablate::commands
