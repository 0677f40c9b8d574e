#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <set>

#include "experiments/commands/commands.h"
#include "experiments/exit_code.h"
#include "experiments/config/study.h"
#include "models/transformer.h"

namespace ablate::experiments {
namespace {

struct Request {
  std::string study;
  int64_t vocabulary = 8000;
};

void inspect_model(const Request& request) {
  std::set<std::string> shown;
  for (const auto& run : read_study(request.study).runs) {
    if (!shown.insert(run.task + "/" + run.arm).second) continue;
    const models::Transformer model(run.experiment.model,
                                    models::Vocabulary{request.vocabulary, request.vocabulary, 0});
    std::cout << fmt::format("{}/{}: {} parameters with a vocabulary of {}\n", run.task, run.arm,
                             models::parameter_count(*model), request.vocabulary);
    for (const auto& item : model->named_parameters())
      std::cout << fmt::format("  {:<50} {}\n", item.key(), c10::str(item.value().sizes()));
  }
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto request = std::make_shared<Request>();
  auto* verb = app.add_subcommand("inspect", "Look into a study's models");
  verb->require_subcommand(1);
  auto* model = verb->add_subcommand("model", "Parameters of every arm by name and shape");
  model->add_option("study", request->study, "The study's YAML file")->required();
  model->add_option("--vocabulary", request->vocabulary, "Pieces of the vocabulary")
      ->check(CLI::Range(4, 1'048'576))
      ->capture_default_str();
  model->footer(
      "Example:\n  ablate inspect model experiments/studies/quickstart.yaml --vocabulary 64");
  model->callback([request] { inspect_model(*request); });
}

}  // namespace ablate::experiments
