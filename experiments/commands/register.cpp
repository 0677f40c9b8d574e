#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <set>

#include "data/corpus.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/records/registration.h"
#include "experiments/run/model_cost.h"
#include "experiments/run/recorded_start.h"
#include "experiments/run/run_data.h"

namespace ablate::commands {
namespace {

struct RegisterRequest {
  std::string study;
  std::string data;
  std::vector<std::string> sets;
};

/// Of the examples of every task and arm, each once.
std::vector<std::string> data_sha256_of(const config::Study& study) {
  std::set<std::string> read, digests;
  for (const auto& one : study.configurations) {
    const auto& data = one.experiment.data;
    if (read.insert(config::canonical({.data = data})).second)
      digests.insert(data::load(data, study.data_folder, run::kDataSeed).sha256);
  }
  return {digests.begin(), digests.end()};
}

void register_study(const RegisterRequest& request) {
  const std::filesystem::path file = request.study;
  config::Selection selection{.sets = request.sets, .count = run::counted_parameters()};
  if (!request.data.empty()) selection.data_folder = request.data;
  const auto study = config::read_study(file, selection);
  const auto lock = records::lock_of(file);
  const auto declared = records::declared_sha256(study, study.seeds);
  if (const auto earlier = records::read_lock(lock))
    throw UsageError(fmt::format(
        "{} is of {}, registered at {}; {}", lock.string(),
        earlier->study_sha256 == declared ? "this study" : "another study", earlier->registered,
        earlier->study_sha256 == declared ? "remove it to register the study anew"
                                          : "give this one a file and a name of its own"));
  const auto program = run::start_on(torch::kCPU);
  const auto folder = std::filesystem::absolute(file).parent_path();
  const auto question = study.question.empty() ? study.name : study.question;
  const auto look = records::count_looks(folder, question) + 1;
  records::write_lock(lock, {.registered = program.began,
                             .study_sha256 = declared,
                             .data_sha256 = data_sha256_of(study),
                             .program_sha256 = program.program_sha256,
                             .commit = program.commit,
                             .earlier = records::newest_lock(folder),
                             .question = question,
                             .look = look});
  std::cout << lock.string() << "\n";
  std::cerr << fmt::format("registered at {}: {} runs of {} ({})\n", program.began,
                           study.runs.size(), study.name, declared.substr(0, 12));
  print_power(study, look, std::cerr);
  if (program.commit.empty() || program.commit.ends_with("-dirty"))
    std::cerr << "warning: this program was built from a source that was not committed, so that "
                 "its results will be exploratory\n";
}

}  // namespace

void add_register(CLI::App& app) {
  auto request = std::make_shared<RegisterRequest>();
  auto* verb =
      app.add_subcommand("register", "Fix a study, its data and this program before it runs");
  verb->add_option("study", request->study, "The study's YAML file")->required();
  add_data_flag(*verb, request->data);
  add_set_flag(*verb, request->sets);
  verb->footer(
      "Writes STUDY.lock beside STUDY.yaml: the SHA-256 of what the study declares, of its data "
      "and of this program, the time, and the SHA-256 of the folder's newest lock before it, so "
      "that none can be added later. The k-th study of a folder that asks the same question is "
      "tested at the level 0.05 x 6 / (pi^2 k^2), so that asking again cannot make up for a no. "
      "The report of a study calls its results confirmatory if it was registered before its first "
      "run and nothing has changed since, and otherwise exploratory, with the reason.\n"
      "Examples:\n"
      "  ablate register question.yaml\n"
      "  ablate run question.yaml");
  verb->callback([request] { register_study(*request); });
}

}  // namespace ablate::commands
