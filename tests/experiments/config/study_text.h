#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/config/yaml/problem.h"
#include "tests/folder.h"
#include "tests/says.h"

namespace ablate {

// Beginnings of studies that tests go on with.
inline const std::string kHead = "name: s\nseeds: [1]\n";
inline const std::string kBase = kHead + "base:\n  data: {task: copy}\n";
inline const std::string kModel = kBase + "  model: ";
inline const std::string kTraining = kBase + "  training: ";

/// A file that exists as long as the object; its folder is its own.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text, const std::string& name = "study.yaml") {
    path_ = folder_.path / name;
    std::ofstream(path_, std::ios::binary) << text;
  }

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& folder() const { return folder_.path; }

 private:
  Folder folder_;
  std::filesystem::path path_;
};

inline config::Study study_of(const std::string& yaml, const config::Selection& selection = {}) {
  const TemporaryFile file(yaml);
  return config::read_study(file.path(), selection);
}

/// The run of one task and arm with the study's first seed.
inline config::RunSpecification run_of(const std::string& yaml, const std::string& arm,
                                       const config::Selection& selection = {}) {
  for (const auto& run : study_of(yaml, selection).runs)
    if (run.arm == arm) return run;
  ADD_FAILURE() << "no arm " << arm;
  return {};
}

/// The whole error text, the file called study.yaml.
inline std::string error_of(const std::string& yaml, const config::Selection& selection = {}) {
  const TemporaryFile file(yaml);
  const auto text =
      refusal_of<config::ConfigError>([&] { config::read_study(file.path(), selection); });
  return replaced_everywhere(text, file.folder().string() + "/", "");
}

/// The problems that an action reports of a configuration; empty if it accepts it.
template <class Action>
std::vector<config::Problem> problems_of(Action&& action) {
  try {
    action();
  } catch (const config::ConfigError& error) {
    return error.problems;
  }
  return {};
}

/// A line for every problem, "study.yaml:line:column: message"; `study` is what stands for the
/// file.
inline std::string messages_in(const std::vector<config::Problem>& problems,
                               const std::string& study = "study.yaml:") {
  std::string text;
  for (const auto& problem : problems) {
    auto place = problem.file.starts_with("--") ? problem.file + ":" : study;
    if (problem.line > 0) place += fmt::format("{}:{}:", problem.line, problem.column);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : "\n", place, place.empty() ? "" : " ",
                        problem.message);
  }
  return text;
}

/// The messages of a study; empty if it has no mistake.
inline std::string messages_of(const std::string& yaml, const config::Selection& selection = {}) {
  const TemporaryFile file(yaml);
  return messages_in(problems_of([&] { config::read_study(file.path(), selection); }));
}

/// The weights of a model of embeddings and dense feed-forwards without biases, and nothing else.
inline int64_t parameters_of(const config::Experiment& experiment, int64_t vocabulary) {
  const auto& model = experiment.model;
  const auto& dense = std::get<models::DenseFeedForward>(model.layer.feed_forward);
  return model.d_model * (vocabulary + model.layers * (dense.gated ? 3 : 2) * dense.d_hidden);
}

}  // namespace ablate
