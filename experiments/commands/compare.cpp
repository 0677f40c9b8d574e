#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/errors.h"
#include "experiments/report/run_comparison.h"
#include "experiments/report/table/layout.h"

namespace ablate::commands {
namespace {

struct CompareRequest {
  std::vector<std::string> folders;
  bool all = false;
  bool json = false;
};

void compare(const CompareRequest& request) {
  const auto comparison = report::compare_runs({request.folders.begin(), request.folders.end()});
  if (comparison.columns.size() < 2)
    throw UsageError("compare needs two runs or arms; give another folder");
  if (!comparison.same_data)
    std::cerr << "the runs saw different data: their scores are not comparable\n";
  if (!comparison.same_tokens)
    std::cerr << "the runs cut text into different tokens: perplexity, loss and token accuracy are "
                 "not comparable; nats and bits per character are\n";
  if (request.json)
    std::cout << report::json_of(comparison);
  else
    std::cout << report::layout(report::grid_of(comparison, request.all));
}

}  // namespace

void add_compare(CLI::App& app) {
  auto request = std::make_shared<CompareRequest>();
  auto* verb =
      app.add_subcommand("compare", "Show runs side by side: what differs, and the scores");
  verb->add_option(
          "runs", request->folders,
          "Run folders, or study folders: each arm there is a column, means over its seeds")
      ->required();
  verb->add_flag("--all", request->all, "Every key of the configurations, not only differing ones");
  verb->add_flag("--json", request->json, "All keys and scores as JSON");
  verb->footer(
      "* marks the best score. For significance tests use 'ablate report'.\n"
      "Examples:\n"
      "  ablate compare runs/quickstart/reverse\n"
      "  ablate compare runs/a/copy/base/seed-1 runs/b/copy/base/seed-1 --all");
  verb->callback([request] { compare(*request); });
}

}  // namespace ablate::commands
