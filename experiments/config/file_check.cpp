#include "experiments/config/file_check.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <variant>
#include <vector>

#include "experiments/config/option.h"
#include "experiments/config/printer.h"
#include "experiments/config/problem.h"
#include "experiments/config/start_check.h"

namespace ablate::config {
namespace {

struct Named {
  std::string key;
  std::string file;
};

void add_file(const char* key, const std::optional<std::string>& file, std::vector<Named>& all) {
  if (file && !file->empty()) all.push_back({key, *file});
}

void add_data(const data::Text& text, std::vector<Named>& all) {
  for (const auto& file : text.train) add_file("data.train", file, all);
  for (const auto& file : text.validation) add_file("data.validation", file, all);
  for (const auto& file : text.test) add_file("data.test", file, all);
}

void add_data(const data::Labelled& text, std::vector<Named>& all) {
  add_file("data.train", text.train, all);
  add_file("data.validation", text.validation, all);
  add_file("data.test", text.test, all);
}

void add_data(const data::Language& text, std::vector<Named>& all) {
  add_file("data.train", text.train, all);
  add_file("data.validation", text.validation, all);
  add_file("data.test", text.test, all);
}

/// Of generated data.
template <class Task>
void add_data(const Task&, std::vector<Named>&) {}

std::vector<Named> files_of(const Experiment& experiment) {
  std::vector<Named> all;
  std::visit([&](const auto& data) { add_data(data, all); }, experiment.data);
  const auto& training = experiment.training;
  add_file("training.init_from.run", training.init_from.run, all);
  add_file("training.pretrained_embeddings.source", training.pretrained_embeddings.source, all);
  add_file("training.pretrained_embeddings.target", training.pretrained_embeddings.target, all);
  return all;
}

}  // namespace

std::string without_tilde(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || (path != "~" && !path.starts_with("~/"))) return {};
  return fmt::format("; write {}{}, since only a shell knows what ~ stands for", home,
                     path.substr(1));
}

void FileCheck::add(const Experiment& experiment, const Trail& trail, ProblemList& problems) {
  for (const auto& [key, file] : files_of(experiment)) {
    std::error_code unreadable;
    if (std::filesystem::exists(folder_ / file, unreadable) || trail.failed.contains(key) ||
        !reported_.emplace(key, file).second)
      continue;
    auto hint = without_tilde(file);
    if (hint.empty())
      hint = "; relative paths start at the study's folder, or at the one that --data names";
    problems.add(trail.place(key),
                 fmt::format("{}: there is no {}{}", key, (folder_ / file).string(), hint));
  }
  check_run(experiment, trail, problems);
}

/// What only the weights of a run tell, its start will.
void FileCheck::check_run(const Experiment& experiment, const Trail& trail, ProblemList& problems) {
  const std::string section = "training.init_from";
  const auto& run = experiment.training.init_from.run;
  if (!run || !std::filesystem::exists(folder_ / *run)) return;
  const auto report = [&](const std::string& key, const std::string& why) {
    const auto path = join_path(section, key);
    if (reported_.emplace(path, why).second)
      problems.add(trail.place(path), fmt::format("{} {} ({})", path, why, *run));
  };
  const auto config = folder_ / *run / kConfigFile;
  if (!std::filesystem::exists(config))
    return report("run", fmt::format("is no run folder: it holds no {}", kConfigFile));
  try {
    for (const auto& [key, why] : start_problems(experiment, read_experiment(config)))
      report(key, why);
  } catch (const ConfigError& error) {
    report("run", fmt::format("cannot be read: {}", error.what()));
  }
}

}  // namespace ablate::config
