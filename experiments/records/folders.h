#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "experiments/config/study/study.h"

namespace ablate::records {

/// Names of files that are not only in run folders, but also in checkpoints or exported models.
inline constexpr const char* kConfigFile = "config.yaml";
inline constexpr const char* kResultFile = "result.json";
inline constexpr const char* kSourceTokenizerFile = "source.model";
inline constexpr const char* kMoeficationTableFile = "moefication.md";
inline constexpr const char* kMoeficationPageFile = "moefication.html";
inline constexpr const char* kTargetTokenizerFile = "target.model";

/// A test set's name as part of a file name.
std::string file_part(std::string test_set);

/// task/arm/seed-n: the name of a run in messages, and its path in the study's folder.
std::string label(const std::string& task, const std::string& arm, int64_t seed);
std::string label(const config::RunSpecification& run);

/// Paths of the files of a run, which need not exist.
struct RunFolder {
  // Implicit, since any path may be a run folder: the command line names them, too.
  RunFolder(std::filesystem::path folder) : path(std::move(folder)) {}

  std::filesystem::path config() const { return path / kConfigFile; }
  std::filesystem::path plan() const { return path / "run.json"; }
  std::filesystem::path environment() const { return path / "environment.json"; }
  std::filesystem::path initial_weights() const { return path / "initial_weights.json"; }
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  std::filesystem::path log() const { return path / "metrics.jsonl"; }
  std::filesystem::path messages() const { return path / "log.txt"; }
  std::filesystem::path result() const { return path / kResultFile; }
  std::filesystem::path failure() const { return path / "failure.json"; }
  std::filesystem::path source_tokenizer() const { return path / kSourceTokenizerFile; }
  std::filesystem::path target_tokenizer() const { return path / kTargetTokenizerFile; }
  std::filesystem::path joint_tokenizer() const { return path / "joint.model"; }
  /// Texts of one test set, a line for each example.
  std::filesystem::path sources(const std::string& test_set) const;
  std::filesystem::path references(const std::string& test_set) const;
  std::filesystem::path outputs(const std::string& test_set) const;
  /// The run of another arm with the same task and seed.
  RunFolder of_arm(const std::string& arm) const;

  std::filesystem::path path;
};

/// Paths of the files of a wave: runs that were submitted to a cluster together.
struct WaveFolder {
  /// Folders of runs, a line each.
  std::filesystem::path runs() const { return path / "runs.txt"; }
  std::filesystem::path jobs() const { return path / "jobs.json"; }
  std::filesystem::path job_script() const { return path / "job.sh"; }
  std::filesystem::path closing_script() const { return path / "close.sh"; }
  std::filesystem::path closing_output() const { return path / "close.out"; }
  /// Output of one task of a job array, written by the scheduler.
  std::filesystem::path output(const std::string& job, const std::string& task) const;
  /// Exists if the run of that line was cancelled while its job worked on it.
  std::filesystem::path cancelled(const std::string& line) const;

  std::filesystem::path path;
};

/// Paths of the files of a study. The folder may have been renamed.
struct StudyFolder {
  StudyFolder(std::filesystem::path folder) : path(std::move(folder)) {}

  std::filesystem::path study() const { return path / "study.yaml"; }
  std::filesystem::path command() const { return path / "command.json"; }
  std::filesystem::path lock() const { return path / "registration.json"; }
  std::filesystem::path report() const { return path / "report.html"; }
  std::filesystem::path forest() const { return path / "forest.svg"; }
  std::filesystem::path result_lines() const { return path / "results.jsonl"; }
  std::filesystem::path csv() const { return path / "results.csv"; }
  std::filesystem::path json() const { return path / "results.json"; }
  std::filesystem::path text_table() const { return path / "table.txt"; }
  std::filesystem::path markdown_table() const { return path / "table.md"; }
  std::filesystem::path latex_table() const { return path / "table.tex"; }
  /// Waves count from 1.
  WaveFolder wave(int64_t number) const;
  RunFolder run(const config::RunSpecification& run) const;

  std::filesystem::path path;
};

/// Where studies are kept unless --output names another folder.
inline constexpr const char* kDefaultOutput = "runs";

/// The folder of a new study of that name.
StudyFolder study_folder(const std::filesystem::path& output, const std::string& name);

/// The file of the classes of a model with a label head, in run folders, checkpoints and exported
/// models.
inline constexpr const char* kLabelsFile = "labels.txt";

inline std::filesystem::path labels_of(const RunFolder& run) { return run.path / kLabelsFile; }

}  // namespace ablate::records
