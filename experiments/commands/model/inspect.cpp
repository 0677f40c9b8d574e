#include <fmt/format.h>

#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "experiments/commands/model/model_commands.h"
#include "experiments/commands/model/position_pictures.h"
#include "experiments/config/printer.h"
#include "experiments/config/study.h"
#include "experiments/run/model_cost.h"
#include "models/position/compatibility.h"
#include "models/transformer.h"
#include "training/storage/durable_file.h"

namespace ablate::commands {
namespace {

struct InspectRequest {
  std::string study;
  int64_t vocabulary = 8000;
  int64_t length = 32;
};

void print_differences(const config::Experiment& base, const config::Experiment& arm) {
  for (const auto& change : config::differences(base, arm))
    std::cout << fmt::format("  differs: {} is {} instead of {}\n", change.path,
                             change.right.empty() ? "absent" : change.right,
                             change.left.empty() ? "absent" : change.left);
}

void inspect_model(const InspectRequest& request) {
  const models::Vocabulary vocabulary{request.vocabulary, request.vocabulary, 0};
  std::map<std::string, const config::RunSpecification*> base;  // the first arm of each task
  std::set<std::string> shown;
  const auto study = config::read_study(request.study);
  for (const auto& run : study.runs) {
    if (!shown.insert(run.task + "/" + run.arm).second) continue;
    const auto cost = run::cost_of(run.experiment.model, vocabulary, request.length);
    std::cout << fmt::format(
        "{}/{}: {} parameters{}, {:.3f} MFLOPs and {:.1f} kB of activations per token\n", run.task,
        run.arm, cost.parameters,
        cost.active_parameters < cost.parameters
            ? fmt::format(" ({} active)", cost.active_parameters)
            : "",
        cost.flops_per_token / 1e6, cost.activation_bytes_per_token / 1e3);
    if (base.contains(run.task))
      print_differences(base.at(run.task)->experiment, run.experiment);
    else
      base[run.task] = &run;
    std::cout << run::module_tree(*models::Transformer(run.experiment.model, vocabulary)) << "\n";
  }
  std::cout << fmt::format(
      "Vocabulary {0}, a source and a target of {1} tokens, whose forward pass in fp32 is divided "
      "by "
      "{1}.\n",
      request.vocabulary, request.length);
}

struct PositionsRequest {
  std::string plot;
  DrawnStack stack;
};

void inspect_positions(const PositionsRequest& request) {
  const auto mark = [](bool holds) { return holds ? "yes" : "no"; };
  constexpr auto kRow = "{:<15} {:<18} {:<12} {:<11} {:<13} {}\n";
  std::cout << fmt::format(kRow, "scheme", "acts on", "tells order", "shift-free", "position ids",
                           "beyond training");
  for (const auto& row : models::kCompatibility)
    std::cout << fmt::format(kRow, row.scheme, row.acts_on, mark(row.tells_order),
                             mark(row.shift_free), mark(row.reads_position_ids),
                             row.beyond_training);
  std::cout
      << "Tells order: an encoder tells the orders of its input apart by the scheme alone.\n"
         "Shift-free: shifting the whole source changes nothing.\n"
         "Position ids: model.position_ids acts on the scheme.\n"
         "Every scheme works in encoders and decoders of every family. Steps with the key/value "
         "cache equal the whole\nsequence, and an exported trace runs at other lengths. No scheme "
         "acts on cross-attention.\n";
  if (request.plot.empty()) return;
  training::write_durably(request.plot, position_page(request.stack));
  std::cerr << "drawn: " << request.plot << "\n";
}

void add_positions(CLI::App& verb) {
  auto request = std::make_shared<PositionsRequest>();
  auto* positions = verb.add_subcommand("positions", "Which position scheme works where");
  positions->add_option("--plot", request->plot, "Draw the schemes into this HTML file");
  positions->add_option("--length", request->stack.length, "Positions drawn")
      ->check(CLI::Range(2, 512))
      ->capture_default_str();
  positions->add_flag("--causal", request->stack.context.causal,
                      "Draw a decoder's stack instead of an encoder's");
  positions->footer("Example:\n  ablate inspect positions --plot positions.html");
  positions->callback([request] { inspect_positions(*request); });
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto request = std::make_shared<InspectRequest>();
  auto* verb = app.add_subcommand("inspect", "Look into a study's models");
  verb->require_subcommand(1);
  auto* model = verb->add_subcommand("model", "Modules, parameters, FLOPs and memory of every arm");
  model->add_option("study", request->study, "The study's YAML file")->required();
  model->add_option("--vocabulary", request->vocabulary, "Tokens of the vocabulary")
      ->check(CLI::Range(4, 1'048'576))
      ->capture_default_str();
  model->add_option("--length", request->length, "Tokens of a source and of a target")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  model->footer(
      "Example:\n  ablate inspect model experiments/studies/quickstart.yaml --vocabulary 64");
  model->callback([request] { inspect_model(*request); });
  add_positions(*verb);
  add_inspect_attention(*verb);
}

}  // namespace ablate::commands
