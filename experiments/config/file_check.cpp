#include "experiments/config/file_check.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <variant>
#include <vector>

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
}

}  // namespace ablate::config
