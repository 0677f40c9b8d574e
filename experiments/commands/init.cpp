#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "experiments/carried_texts.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/config/study/explanation.h"
#include "experiments/config/study/study.h"
#include "experiments/config/yaml/problem.h"
#include "experiments/errors.h"
#include "experiments/run/model_cost.h"
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
      const auto study = config::read_study(entry.path(), {.count = run::counted_parameters()});
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

constexpr const char* kQuickstart = "quickstart";

struct InitRequest {
  std::string file = "study.yaml";
  std::string like;
};

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const auto& [name, text] : starters())
    if (name != std::string(kQuickstart)) names.emplace_back(name);
  return names;
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("a study to start with has no " + what);
  text.replace(at, what.size(), by);
}

/// A study to start with as a file beside its schema.
std::string starter(const InitRequest& request) {
  const auto name = request.like.empty() ? kQuickstart : request.like;
  std::string text = text_named(starters(), name);
  replace(text, "../../docs/study.schema.json", kSchemaFile);
  if (!request.like.empty()) return text;
  replace(text, "experiments/studies/quickstart.yaml", request.file);
  replace(text, "name: quickstart", "name: first-study");
  return text;
}

void write_new(const std::filesystem::path& file, const std::string& text) {
  if (std::filesystem::exists(file))
    throw UsageError(file.string() + " exists; name another file or remove it");
  training::write_durably(file, text);
}

/// The commands that run a study, with the corpus that it reads.
std::string next_commands(const std::string& file, const std::string& text) {
  constexpr const char* kCorpus = "tinyshakespeare";
  if (text.find(kCorpus) == std::string::npos) return fmt::format("next: ablate run {}\n", file);
  return fmt::format("next: ablate data fetch {} --to data\n      ablate run {} --data data\n",
                     kCorpus, file);
}

void init(const InitRequest& request) {
  const std::filesystem::path file = request.file;
  const auto schema = file.parent_path() / kSchemaFile;
  const auto text = starter(request);
  write_new(file, text);
  std::cerr << "written: " << file.string();
  if (!std::filesystem::exists(schema)) {
    training::write_durably(schema, config::json_schema());
    std::cerr << ", and for editors " << schema.string();
  }
  std::cerr << "\n" << next_commands(request.file, text);
}

}  // namespace

void add_init(CLI::App& app) {
  auto request = std::make_shared<InitRequest>();
  auto* verb = app.add_subcommand("init", "Write a first study to change and run");
  verb->add_option("file", request->file, "The study's YAML file, which must not exist")
      ->capture_default_str();
  verb->add_option("--like", request->like,
                   "A known architecture in small, instead of the quickstart; what cannot be "
                   "expressed is said in comments")
      ->check(CLI::IsMember(architectures()).description(""))
      ->type_name(type_of_words(architectures()));
  verb->footer(
      "docs/architectures.md explains the names of Hugging Face's configurations.\n"
      "Examples:\n  ablate init\n  ablate init positions.yaml\n  ablate init gpt2.yaml --like "
      "gpt2");
  verb->callback([request] { init(*request); });
}

}  // namespace ablate::commands
