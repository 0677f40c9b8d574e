#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "data/parallel_text.h"
#include "experiments/cli/lines.h"
#include "experiments/cli/shell_completion.h"
#include "experiments/commands/model/model_commands.h"
#include "experiments/errors.h"
#include "experiments/run/load_run.h"
#include "tokenizer/fidelity.h"
#include "training/inference/score_targets.h"
#include "training/process/machine.h"

namespace ablate::commands {
namespace {

struct ScoreRequest {
  std::string run;
  std::string checkpoint;
  std::string source, target;
};

/// Says how many targets hold what the tokenizer does not know.
void note_unknown(const run::LoadedRun& loaded, const std::vector<std::string>& targets) {
  if (loaded.model->labels()) return;
  const auto unknown = std::ranges::count_if(targets, [&](const std::string& target) {
    return tokenizer::fidelity(loaded.tokenizers.target, target).unknown_tokens > 0;
  });
  if (unknown > 0)
    std::cerr << fmt::format(
        "{} of {} targets hold tokens that the model does not know; their score is that of an "
        "unknown token, whatever it stands for\n",
        unknown, targets.size());
}

void score_all(const ScoreRequest& request) {
  at::set_num_threads(static_cast<int>(training::available_cores()));
  const auto sources = cli::read_text(request.source), targets = cli::read_text(request.target);
  if (sources.size() != targets.size())
    throw data::DataError(fmt::format("{} has {} lines and {} has {}; give one target a source",
                                      request.source, sources.size(), request.target,
                                      targets.size()));
  auto loaded = run::load_run(request.run, request.checkpoint);
  const auto& model = loaded.model;
  if (model->family() == models::Family::encoder_only && !model->labels())
    throw UsageError(request.run +
                     " is a masked language model, which gives no text a probability");
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
  verb->add_option("--checkpoint", request->checkpoint, "Which weights")
      ->type_name(cli::kCheckpoint);
  verb->footer(
      "A blank source has no output, and so its line is blank.\n"
      "Example:\n  ablate score runs/multi30k/text/base/seed-1 --source a.en --target a.de");
  verb->callback([request] { score_all(*request); });
}

}  // namespace ablate::commands
