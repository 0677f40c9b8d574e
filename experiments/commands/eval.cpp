#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "data/shared_text.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/lines.h"
#include "experiments/errors.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/load_run.h"
#include "experiments/run/run_data.h"
#include "tokenizer/tokenizer.h"
#include "training/inference/score_targets.h"
#include "training/process/machine.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

struct EvalRequest {
  std::string run;
  std::string checkpoint;
  std::string data;
  DecodingFlags decoding;
  bool json = false;
};

void print_evaluation(const run::Evaluation& evaluation, const std::string& weights) {
  std::cout << "weights: " << weights << "\n";
  for (const auto& scores : evaluation.tests) std::cout << score_line(scores) << "\n";
  if (evaluation.bleu_signature.empty()) return;
  std::cout << "BLEU: " << evaluation.bleu_signature << "\n"
            << "chrF: " << evaluation.chrf_signature << "\n";
}

void evaluate_all(const EvalRequest& request) {
  at::set_num_threads(static_cast<int>(training::available_cores()));
  auto loaded = run::load_run(request.run, request.checkpoint);
  if (!data::writes_outputs(loaded.format.compared()))
    request.decoding.check_read({}, "on the scores of running text, for which nothing is decoded");
  if (loaded.model->labels()) request.decoding.check_read({"batch"}, "on a classifier");
  loaded.experiment.decoding = request.decoding.over(loaded.experiment);
  const auto corpus =
      run::read_corpus_of(records::RunFolder(request.run), loaded.experiment, request.data);
  if (loaded.weights == "best" && data::test_in_validation(corpus, loaded.experiment.data))
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
  add_checkpoint_flag(*verb, request->checkpoint);
  verb->add_option("--data", request->data,
                   "Folder of relative data paths; absent: as in training");
  request->decoding.add(*verb);
  verb->add_flag("--json", request->json, "Print one JSON object");
  verb->footer(
      "Example:\n  ablate eval runs/multi30k/text/base/seed-1 --checkpoint averaged --beam 5");
  verb->callback([request] { evaluate_all(*request); });
}

namespace {

struct ScoreRequest {
  std::string run;
  std::string checkpoint;
  std::string source, target;
};

/// Reports how many targets hold unknown tokens.
void note_unknown(const run::LoadedRun& loaded, const std::vector<std::string>& targets) {
  if (loaded.model->labels()) return;
  const auto unknown = std::ranges::count_if(targets, [&](const std::string& target) {
    return tokenizer::fidelity(loaded.tokenizers.target, target).unknown_tokens > 0;
  });
  if (unknown > 0)
    std::cerr << fmt::format(
        "{} of {} targets hold tokens that the model does not know; they are scored as the unknown "
        "token, whatever their text\n",
        unknown, targets.size());
}

/// Throws UsageError if no target has a probability that depends on its source: a source is closed
/// by an end token, which a text of tokens may lack, or behind which attention may not look.
void require_scores(const run::LoadedRun& loaded, const std::string& run) {
  if (loaded.model->family() == models::Family::encoder_only && !loaded.model->labels())
    throw UsageError(run + " is a masked language model, which gives no text a probability");
  const auto* tokens = std::get_if<data::Tokens>(&loaded.experiment.data);
  if (tokens == nullptr) return;
  if (tokens->mask_documents)
    throw UsageError(run +
                     " does not look behind the end of a document (data.mask_documents), so its "
                     "targets would not depend on their sources; `ablate generate --scores` scores "
                     "what it writes");
  if (tokens->vocabulary && !tokens->end_token)
    throw UsageError(run +
                     " has learned from tokens without an end (data.end_token), which a source and "
                     "a target have; `ablate generate --scores` scores what it writes");
}

void score_all(const ScoreRequest& request) {
  at::set_num_threads(static_cast<int>(training::available_cores()));
  const auto sources = read_text(request.source), targets = read_text(request.target);
  if (sources.size() != targets.size())
    throw data::DataError(fmt::format("{} has {} lines and {} has {}; give one target a source",
                                      request.source, sources.size(), request.target,
                                      targets.size()));
  auto loaded = run::load_run(request.run, request.checkpoint);
  require_scores(loaded, request.run);
  std::vector<data::Example> examples;
  for (size_t i = 0; i < sources.size(); ++i) examples.push_back({sources[i], targets[i]});
  for (const auto& score :
       training::score_targets(loaded.translator(), examples, loaded.experiment.decoding.batch))
    std::cout << (score ? fmt::format("{:.6f}\n", *score) : "\n");
  note_unknown(loaded, targets);
}

}  // namespace

void add_score(CLI::App& app) {
  auto request = std::make_shared<ScoreRequest>();
  auto* verb = app.add_subcommand(
      "score", "Print the log-probability (in nats) of every given target, line by line");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--source", request->source, "Source lines")->required();
  verb->add_option("--target", request->target, "Target lines")->required();
  verb->add_option("--checkpoint", request->checkpoint, "Which weights")->type_name(kCheckpoint);
  verb->footer(
      "A blank source has no output, and so its line is blank. Of running text a source is a line "
      "and\nits target the next one, each with its end token.\n"
      "Example:\n  ablate score runs/multi30k/text/base/seed-1 --source a.en --target a.de");
  verb->callback([request] { score_all(*request); });
}

}  // namespace ablate::commands
