#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/config/schema/printer.h"
#include "experiments/config/study/explanation.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study.h"
#include "experiments/config/yaml/problem.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/errors.h"
#include "experiments/records/run_start.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/run/choices.h"
#include "experiments/run/model_cost.h"

namespace ablate::commands {
namespace {

struct ConfigRequest {
  std::string data;
  std::string study;
  std::string key;
  std::vector<std::string> sides;
  bool whole = false;
  config::Selection selection;
};

/// "a search of 24 trials (more if a best value is at an end of its list), then ", or by curve "5
/// values of training.schedule.peak, "; empty without tune.
std::string search_words(const config::Study& study) {
  if (!study.tuning) return "";
  const auto& tuning = *study.tuning;
  if (study.by_curve())
    return fmt::format("{} values of {}, ", tuning.keys.front().values.size(),
                       tuning.keys.front().path);
  const records::StudyFolder nowhere("/dev/null");  // whatever has been run
  const bool grows = tuning.extend > 0 && std::ranges::any_of(tuning.keys, [](const auto& key) {
                       return config::have_ends(key.values);
                     });
  return fmt::format("a search of {} trials{}, then ",
                     records::progress_of(study, nowhere).trials.all,
                     grows ? " (more if a best value is at an end of its list)" : "");
}

/// ", 6 of them the control's (compare.control: false leaves them out)"; empty without a control.
std::string control_words(const config::Study& study) {
  if (!study.compare) return "";
  const auto runs = std::ranges::count_if(study.runs, [&](const config::RunSpecification& run) {
    return config::is_control(*study.compare, run.arm);
  });
  if (runs == 0) return "";
  return fmt::format(", {} of them the control's (compare.control: false leaves them out)", runs);
}

void check_study(ConfigRequest& request) {
  if (!request.data.empty()) request.selection.data_folder = data_folder(request.data);
  request.selection.with_files = true;
  const auto study = config::read_study(request.study, request.selection);
  for (const auto& run : study.runs) {
    if (run.seed != study.seeds.front()) continue;
    if (const auto& from = run.experiment.training.init_from.run)
      records::check_start(study.data_folder / *from, run.experiment);
  }
  run::check_choices(study);
  std::set<std::string> tasks;
  for (const auto& setting : study.settings) tasks.insert(setting.task);
  std::cout << fmt::format("{}: {} task{}{}, {} arms, {} seeds: {}{} runs{}\n", study.name,
                           tasks.size(), tasks.size() == 1 ? "" : "s",
                           study.settings.size() == tasks.size()
                               ? ""
                               : fmt::format(" in {} settings", study.settings.size()),
                           study.arms.size(), study.seeds.size(), search_words(study),
                           study.runs.size(), control_words(study));
  for (const auto& note : study.notes) std::cout << "note: " + note + "\n";
}

void show(const ConfigRequest& request) {
  const auto study = config::read_study(request.study, request.selection);
  if (request.whole) {
    std::cout << config::parse_study(request.study).text;
    return;
  }
  std::string last;
  for (const auto& run : study.runs) {
    const auto name = run.task + "/" + run.arm;
    if (name == last) continue;
    std::cout << "# " << name << "\n" << config::to_yaml(run.experiment, run.origins) << "\n";
    last = name;
  }
}

/// A side is an arm of the study (of its first task, or task/arm), or a run's config.yaml.
config::Experiment side(const std::string& name, const config::Study& study) {
  if (std::filesystem::exists(name)) return config::read_experiment(std::filesystem::path(name));
  for (const auto& run : study.runs)
    if (run.arm == name || run.task + "/" + run.arm == name) return run.experiment;
  throw UsageError(fmt::format("'{}' is neither an arm of {} nor a file{}", name,
                               study.file.string(), config::did_you_mean(name, study.arms)));
}

void diff(const ConfigRequest& request) {
  const auto study = config::read_study(request.study, request.selection);
  const auto left = side(request.sides[0], study), right = side(request.sides[1], study);
  for (const auto& one : config::differences(left, right))
    std::cout << fmt::format("{}: {} | {}\n", one.path, one.left.empty() ? "-" : one.left,
                             one.right.empty() ? "-" : one.right);
}

void add_study(CLI::App& verb, ConfigRequest& request) {
  verb.add_option("study", request.study, "The study's YAML file")->required();
  add_set_flag(verb, request.selection.sets);
  verb.add_option("--arms", request.selection.arms, "Only these arms")->delimiter(',');
  verb.add_option("--tasks", request.selection.tasks, "Only these tasks")->delimiter(',');
  verb.add_option("--sizes", request.selection.sizes, "Only these sizes")->delimiter(',');
}

}  // namespace

void add_config(CLI::App& app) {
  auto request = std::make_shared<ConfigRequest>();
  request->selection.count = run::counted_parameters();
  request->selection.parts = run::check_parts;
  auto* verb = app.add_subcommand("config", "Check, show and compare configurations");
  verb->require_subcommand(1);
  auto* check_verb = verb->add_subcommand(
      "check",
      "Report at once every mistake of a study and every file that is not there or has another "
      "form");
  add_study(*check_verb, *request);
  add_data_flag(*check_verb, request->data);
  check_verb->footer("Example:\n  ablate config check experiments/studies/quickstart.yaml");
  check_verb->callback([request] { check_study(*request); });
  auto* show_verb =
      verb->add_subcommand("show", "Print every arm's resolved values and where they come from");
  add_study(*show_verb, *request);
  auto* whole = show_verb->add_flag("--whole", request->whole,
                                    "The study itself, with what it extends, as a run freezes it");
  for (const auto* other : {"--set", "--arms", "--tasks", "--sizes"})
    whole->excludes(show_verb->get_option(other));
  show_verb->footer("Example:\n  ablate config show study.yaml --arms none");
  show_verb->callback([request] { show(*request); });
  auto* diff_verb = verb->add_subcommand("diff", "Print the differences between two arms");
  add_study(*diff_verb, *request);
  diff_verb->add_option("sides", request->sides, "Two arms, or config.yaml files of runs")
      ->required()
      ->expected(2);
  diff_verb->footer("Example:\n  ablate config diff study.yaml sinusoidal none");
  diff_verb->callback([request] { diff(*request); });
  auto* schema_verb =
      verb->add_subcommand("schema", "Print the JSON Schema of a study, for editors");
  schema_verb->footer("Example:\n  ablate config schema > study.schema.json");
  schema_verb->callback([] { std::cout << config::json_schema(); });
  auto* docs_verb = verb->add_subcommand("docs", "Print the reference of every key as Markdown");
  docs_verb->footer("Example:\n  ablate config docs > docs/configuration.md");
  docs_verb->callback([] { std::cout << config::configuration_page(); });
  auto* explain_verb =
      verb->add_subcommand("explain", "Explain a key and its values, or find keys by words");
  explain_verb
      ->add_option("key", request->key,
                   "A dotted path, such as model.position, or words to search for")
      ->type_name(kKeyPath)
      ->required();
  explain_verb->footer(
      "Example:\n  ablate config explain training.schedule\n  ablate config explain \"mixture of "
      "experts\"");
  explain_verb->callback([request] { std::cout << config::explanation(request->key); });
}

}  // namespace ablate::commands
