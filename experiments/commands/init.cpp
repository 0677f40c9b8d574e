#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/config/study/explanation.h"
#include "experiments/config/study/study.h"
#include "experiments/config/yaml/problem.h"
#include "experiments/errors.h"
#include "training/storage/durable_file.h"

namespace ablate::commands {
namespace {

std::filesystem::path folder_of_studies() {
  const std::filesystem::path in_source = "experiments/studies";
  const auto places = shipped_places(in_source);
  for (const auto& folder : {places[0], in_source, places[1]})
    if (std::filesystem::is_directory(folder)) return folder;
  throw UsageError(
      fmt::format("no studies in {} nor in {}; name a study file, or write one with "
                  "ablate init",
                  in_source.string(), places[1].string()));
}

}  // namespace

std::vector<ShippedStudy> shipped_studies(std::ostream& messages) {
  std::vector<ShippedStudy> studies;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of_studies())) {
    if (entry.path().extension() != ".yaml") continue;
    try {
      const auto study = config::read_study(entry.path());
      studies.push_back({entry.path(), study.question, study.time});
    } catch (const config::ConfigError& error) {
      messages << "ablate: left out, since it is no valid study: " << error.what() << "\n";
    }
  }
  std::ranges::sort(studies, {}, &ShippedStudy::file);
  return studies;
}

std::string to_text(const std::vector<ShippedStudy>& studies) {
  std::string text;
  for (const auto& study : studies)
    text += fmt::format("{}\t{}\t{}\n", study.file.string(), study.question, study.time);
  return text;
}

namespace {

constexpr const char* kSchemaFile = "study.schema.json";

constexpr const char* kStarter = R"(# yaml-language-server: $schema=study.schema.json
# A first study, without any data: half a minute on a CPU. Run it with
#   ablate run %FILE%
# `ablate config explain KEY` says what a key means, `ablate config check %FILE%` finds mistakes.
name: first-study
question: Does a Transformer that reverses its input need to know positions?
seeds: [1, 2]  # one run of every arm for each; a claim with p < 0.05 takes six

base:  # what all runs share; keys that are left out have their defaults
  data:
    task: reverse  # generated; `task: text` reads your own files
    symbols: 8
    train_length: [1, 6]
    test_length: [6, 7, 8]  # those above the trained length are reported apart
    examples: { train: 20000, validation: 200, test: 200 }
  tokenizer: { kind: word }
  model:
    d_model: 32
    layers: 1
    attention: { heads: 4 }
    feed_forward: { kind: dense, d_hidden: 128 }
    position: { kind: sinusoidal }
    dropout: 0.0
  training:
    steps: 400
    tokens_per_batch: 512
    label_smoothing: 0.0
    schedule: { kind: cosine, peak: 5.0e-3, warmup: 40 }

arms:  # each changes something of base
  sinusoidal: {}
  learned: { model.position.kind: learned }
  none: { model.position.kind: none }

# grid: { model.layers: [1, 2] }  # would run every arm with each of these

compare: { baseline: sinusoidal, metric: exact_match }
)";

std::string starter(const std::string& file) {
  constexpr std::string_view kPlace = "%FILE%";
  std::string text = kStarter;
  for (size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace))
    text.replace(at, kPlace.size(), file);
  return text;
}

void write_new(const std::filesystem::path& file, const std::string& text) {
  if (std::filesystem::exists(file))
    throw UsageError(file.string() + " exists; name another file or remove it");
  training::write_durably(file, text);
}

void init(const std::filesystem::path& file) {
  const auto schema = file.parent_path() / kSchemaFile;
  write_new(file, starter(file.string()));
  std::cerr << "written: " << file.string();
  if (!std::filesystem::exists(schema)) {
    training::write_durably(schema, config::json_schema());
    std::cerr << ", and for editors " << schema.string();
  }
  std::cerr << "\nnext: ablate run " << file.string() << "\n";
}

}  // namespace

void add_init(CLI::App& app) {
  auto file = std::make_shared<std::string>("study.yaml");
  auto* verb = app.add_subcommand("init", "Write a first study to change and run");
  verb->add_option("file", *file, "The study's YAML file, which must not exist")
      ->capture_default_str();
  verb->footer("Examples:\n  ablate init\n  ablate init positions.yaml");
  verb->callback([file] { init(*file); });
}

}  // namespace ablate::commands
