#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <memory>

#include "data/corpus.h"
#include "data/token_file.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/number_flags.h"
#include "experiments/commands/section_flags.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/study.h"
#include "experiments/errors.h"
#include "experiments/records/result.h"
#include "experiments/run/model_cost.h"
#include "experiments/run/run_data.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"

namespace ablate::commands {
namespace {

struct DataRequest {
  std::string study;
  std::string output;
  std::string data;
  config::Selection selection;
  SectionFlags task;
  uint64_t seed = run::kDataSeed;
  int64_t examples = 3;
};

using Body = std::function<void(const std::string&, const data::Corpus&)>;

/// Runs `body` on the corpus that only the flags describe.
void for_given_task(const DataRequest& request, const Body& body) {
  if (!request.study.empty())
    throw UsageError("give a study or the flags of a task, not both; a study is changed by --set");
  std::vector<std::string> of_studies;
  if (!request.selection.tasks.empty()) of_studies.emplace_back("--tasks");
  if (!request.selection.sets.empty()) of_studies.emplace_back("--set");
  refuse_unread(of_studies, "without a study");
  const auto options = request.task.read().data;
  const auto name = std::visit([](const auto& task) { return std::string(task.name); }, options);
  body(name, data::load(options, request.data, request.seed));
}

/// The corpus of every task of a study, once.
void for_corpora(const DataRequest& request, const Body& body) {
  if (request.task.given()) return for_given_task(request, body);
  if (request.study.empty())
    throw UsageError("name a study, or a task with --task (copy, reverse, numbers, ...)");
  const auto& tasks = config::node_at(config::experiment_schema(), "data")->choices;
  if (std::ranges::find(tasks, request.study) != tasks.end() &&
      !std::filesystem::exists(request.study))
    throw UsageError(fmt::format("'{0}' is a task, not a study; write --task {0}", request.study));
  auto selection = request.selection;
  if (!request.data.empty()) selection.data_folder = request.data;
  selection.count = run::counted_parameters();
  const auto study = config::read_study(request.study, selection);
  std::string last;
  for (const auto& run : study.runs) {
    if (run.task == last) continue;
    last = run.task;
    body(run.task, data::load(run.experiment.data, study.data_folder, request.seed));
  }
}

void show_set(const std::string& name, const std::vector<data::Example>& examples, int64_t count) {
  if (!examples.empty() && examples.front().tokens) {
    const auto& file = *examples.front().tokens;
    std::cout << fmt::format("{}: {} tokens in {}\n", name, file.size(), file.path().string());
    return;
  }
  std::cout << fmt::format("{}: {} examples\n", name, examples.size());
  for (size_t i = 0; i < std::min(examples.size(), static_cast<size_t>(count)); ++i)
    std::cout << "  " << examples[i].source << "\n    -> " << examples[i].target << "\n";
}

void show_examples(const DataRequest& request) {
  for_corpora(request, [&](const std::string& task, const data::Corpus& corpus) {
    std::cout << fmt::format("# {} (SHA-256 {}, {} bad lines left out)\n", task, corpus.sha256,
                             corpus.skipped);
    show_set("train", corpus.train, request.examples);
    show_set("validation", corpus.validation, request.examples);
    for (const auto& test : corpus.tests)
      show_set(test.name + (test.extrapolates ? " (beyond)" : ""), test.examples, request.examples);
  });
}

void write_set(const std::filesystem::path& file, const std::vector<data::Example>& examples) {
  std::string text;
  for (const auto& example : examples) {
    if (example.tokens)
      throw UsageError(example.tokens->path().string() +
                       " holds tokens without their text, which no TSV file takes");
    const bool pair = !example.source.empty();  // of running text there is no source
    if (pair && (example.source + example.target).find('\t') != std::string::npos)
      throw data::DataError(file.string() +
                            ": a side holds a tab, or a source is two texts, which TSV without "
                            "names cannot: " +
                            example.source);
    if (pair) text += example.source + "\t";
    text += example.target + "\n";
  }
  training::write_durably(file, text);
}

/// The file of a test set, which may have the name of another set.
std::string file_of_test(const std::string& name) {
  const auto part = records::file_part(name);
  return (part == "train" || part == "validation" ? "test-" : "") + part + ".tsv";
}

void make(const DataRequest& request) {
  for_corpora(request, [&](const std::string& task, const data::Corpus& corpus) {
    const auto folder = std::filesystem::path(request.output) / task;
    training::create_folder(folder);
    write_set(folder / "train.tsv", corpus.train);
    write_set(folder / "validation.tsv", corpus.validation);
    for (const auto& test : corpus.tests)
      write_set(folder / file_of_test(test.name), test.examples);
    std::cerr << folder.string() << "\n";
  });
}

void add_study_argument(CLI::App& verb, DataRequest& request) {
  verb.add_option("study", request.study, "The study's YAML file");
  verb.add_option("--data", request.data, "Folder of relative data paths");
  verb.add_option("--tasks", request.selection.tasks, "Only these tasks")->delimiter(',');
  add_set_flag(verb, request.selection.sets);
  verb.add_option("--seed", request.seed, "Of generated data; studies use 1")
      ->capture_default_str();
  request.task.add(verb, "data", {});
}

}  // namespace

void add_data(CLI::App& app) {
  auto request = std::make_shared<DataRequest>();
  auto* verb = app.add_subcommand(
      "data", "Look at the data of a study or a task, write it to files, or fetch a corpus");
  verb->require_subcommand(1);
  auto* show_verb = verb->add_subcommand("show", "Sizes and first examples of every set");
  add_study_argument(*show_verb, *request);
  show_verb->add_option("--examples", request->examples, "Examples of each set")
      ->check(between(0, 1'000'000))
      ->capture_default_str();
  show_verb->footer(
      "Examples:\n  ablate data show experiments/studies/quickstart.yaml\n  ablate data show "
      "--task numbers --source en --target de --examples 5");
  show_verb->callback([request] { show_examples(*request); });
  auto* make_verb =
      verb->add_subcommand("make", "Write every set as a TSV file, or running text as its lines");
  add_study_argument(*make_verb, *request);
  make_verb->add_option("--output", request->output, "Folder to write to")->required();
  make_verb->footer(
      "Examples:\n  ablate data make experiments/studies/quickstart.yaml --output data-out\n  "
      "ablate data "
      "make --task reverse --symbols 8 --train-length 1,6 --test-length 6,9 --output data-out");
  make_verb->callback([request] { make(*request); });
  add_data_tokens(*verb);
  add_data_fetch(*verb);
}

namespace {

struct FetchFlags {
  std::string name;
  std::string to;
  std::string from;
  int64_t patience = 60;
  bool list = false;
};

std::string script() {
  const auto places = shipped_places("experiments/corpora");
  for (const auto& place : places)
    if (std::filesystem::exists(place / "__main__.py")) return place;
  throw training::IoError(
      fmt::format("the script that fetches corpora is neither {} nor {}; install it",
                  places[0].string(), places[1].string()));
}

/// Becomes the script, whose exit codes are ours.
void fetch_named(const FetchFlags& flags) {
  std::vector<std::string> words{"python3", "-B", script(),
                                 "--patience=" + std::to_string(flags.patience)};
  if (flags.list) words.push_back("--list");
  words.insert(words.end(), {"--to=" + flags.to, "--from=" + flags.from, "--", flags.name});
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  throw training::io_error("run", "python3", errno);
}

}  // namespace

std::vector<std::filesystem::path> shipped_places(const std::filesystem::path& in_source) {
  const auto above = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return {above / "share/ablate" / in_source, above / in_source};
}

void add_data_fetch(CLI::App& data) {
  auto flags = std::make_shared<FetchFlags>();
  auto* verb = data.add_subcommand("fetch", "Download a corpus, or make it from downloads");
  verb->add_option("name", flags->name, "The corpus, one of those of --list");
  verb->add_flag("--list", flags->list, "List the corpora that can be fetched");
  verb->add_option("--to", flags->to, "Folder in which the corpus's folder is made");
  verb->add_option("--from", flags->from,
                   "A mirror, as a URL or folder; absent: the servers that the recipe names, and "
                   "apt-get and pip for Debian's and Python's packages");
  verb->add_option("--patience", flags->patience,
                   "Give up if fewer than 1,000 bytes arrive in this many seconds")
      ->check(between(1, 86'400))
      ->capture_default_str();
  verb->footer(
      "The licence is shown first. Every download is verified by its SHA-256. The corpus is "
      "written whole or not at all, and the same command continues an interrupted download. It "
      "takes python3.\n"
      "Examples:\n  ablate data fetch --list\n  ablate data fetch tinyshakespeare --to data\n  "
      "ablate data fetch debian-en-de --to data --from http://localhost:8000/debian");
  verb->callback([flags, verb] {
    if (flags->list) check_mode(*verb, {"--list", {"--list"}});
    fetch_named(*flags);
  });
}

}  // namespace ablate::commands
