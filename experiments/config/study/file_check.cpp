#include "experiments/config/study/file_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/printer.h"

namespace ablate::config {
namespace {

constexpr const char* kStartRun = "training.init_from.run";

/// The files of a configuration that are not its data.
std::vector<data::NamedFile> other_files(const Experiment& experiment) {
  std::vector<data::NamedFile> all;
  const auto add = [&](const char* key, const std::optional<std::string>& name) {
    if (name && !name->empty()) all.push_back({.key = key, .name = *name, .fault = {}});
  };
  const auto& training = experiment.training;
  add("tokenizer.file", experiment.tokenizer.file);
  add(kStartRun, training.init_from.run);
  add("training.pretrained_embeddings.source", training.pretrained_embeddings.source);
  add("training.pretrained_embeddings.target", training.pretrained_embeddings.target);
  return all;
}

/// Whether all keys that say how the files of data are read could be read themselves.
bool knows_form(const Tree& tree) {
  return std::ranges::none_of(tree.failed(), [](const std::string& path) {
    return path.empty() || path == "data" || path.starts_with("data.");
  });
}

}  // namespace

std::string without_tilde(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || (path != "~" && !path.starts_with("~/"))) return {};
  return fmt::format("; write {}{}, since only a shell expands ~", home, path.substr(1));
}

const std::vector<data::NamedFile>& FileCheck::files_of(const data::DataOptions& options) {
  const auto [found, fresh] = looked_at_.try_emplace(canonical({.data = options}));
  if (fresh) {
    found->second = data::named_files(options, folder_);
    for (auto& file : found->second) file.key = join_path("data", file.key);
  }
  return found->second;
}

/// Empty if it is there.
std::string FileCheck::why_missing(const std::string& name) const {
  std::error_code unreadable;
  if (std::filesystem::exists(folder_ / name, unreadable)) return {};
  auto hint = without_tilde(name);
  if (hint.empty())
    hint = "; relative paths start at the study's folder, or at the one that --data names";
  return fmt::format("there is no {}{}", (folder_ / name).string(), hint);
}

void FileCheck::add(const Experiment& experiment, const Tree& tree, ProblemList& problems) {
  auto files = files_of(experiment.data);
  std::ranges::move(other_files(experiment), std::back_inserter(files));
  const bool reads_forms = knows_form(tree);
  for (const auto& [key, name, fault] : files) {
    auto why = why_missing(name);
    if (why.empty() && reads_forms) why = fault;
    if (why.empty() || !tree.readable(key) || !reported_.insert(why).second) continue;
    auto problem = problem_at(tree.place(key), fmt::format("{}: {}", key, why));
    problem.of_data = key != kStartRun;
    problems.add(std::move(problem));
  }
}

}  // namespace ablate::config
