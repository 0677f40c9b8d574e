#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>

#include "experiments/commands/commands.h"
#include "experiments/commands/lines.h"
#include "experiments/process_pool.h"
#include "experiments/run_folder.h"

namespace ablate::experiments {
namespace {

/// Lines read before any is translated; long inputs stream.
constexpr size_t kGroup = 1024;

struct Request {
  std::string run;
  std::string checkpoint;
  std::optional<int64_t> beam, batch, threads;
  std::optional<double> length_penalty;
  bool scores = false;
};

void translate_all(const Request& request) {
  at::set_num_threads(static_cast<int>(request.threads.value_or(available_cores())));
  auto loaded = load_run(request.run, request.checkpoint);
  auto options = loaded.experiment.decoding;
  options.beam = request.beam.value_or(options.beam);
  options.batch = request.batch.value_or(options.batch);
  options.length_penalty = request.length_penalty.value_or(options.length_penalty);
  int64_t cut = 0;
  for_line_groups(std::cin, kGroup, [&](const std::vector<std::string>& lines) {
    for (const auto& translation : training::translate(loaded.translator, lines, options)) {
      if (translation.cut) ++cut;
      if (request.scores) std::cout << fmt::format("{:.6f}\t", translation.score);
      std::cout << translation.text << '\n';
    }
    std::cout.flush();
  });
  if (cut > 0)
    std::cerr << fmt::format("{} lines were cut to the model's {} pieces\n", cut,
                             loaded.translator.max_length);
}

}  // namespace

void add_translate(CLI::App& app) {
  auto request = std::make_shared<Request>();
  auto* verb = app.add_subcommand("translate",
                                  "Translate standard input to standard output, a line for a line");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--checkpoint", request->checkpoint,
                   "best, last, averaged or a step; absent: what the run was evaluated with");
  verb->add_option("--beam", request->beam, "Hypotheses kept; absent: the study's")
      ->check(CLI::Range(1, 256));
  verb->add_option("--length-penalty", request->length_penalty,
                   "score = log-probability / length ^ penalty")
      ->check(CLI::Range(0.0, 10.0));
  verb->add_option("--batch", request->batch, "Sentences decoded together")
      ->check(CLI::Range(1, 65'536));
  verb->add_option("--threads", request->threads, "CPU threads")->check(CLI::Range(1, 1024));
  verb->add_flag("--scores", request->scores, "Put the score and a tab before every line");
  verb->footer(
      "Example:\n"
      "  echo 'four hundred two' | ablate translate runs/quickstart/numbers/sinusoidal/seed-1");
  verb->callback([request] { translate_all(*request); });
}

}  // namespace ablate::experiments
