#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "experiments/commands/commands.h"
#include "experiments/config/study/explanation.h"
#include "experiments/config/study/study.h"
#include "experiments/config/yaml/problem.h"
#include "experiments/errors.h"
#include "experiments/run/model_cost.h"
#include "quickstart.h"  // made of experiments/studies/quickstart.yaml
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

void replace(std::string& text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("the quickstart has no " + what);
  text.replace(at, what.size(), by);
}

/// The quickstart under another name, as a file beside its schema.
std::string starter(const std::string& file) {
  std::string text = kQuickstart;
  replace(text, "../../docs/study.schema.json", kSchemaFile);
  replace(text, "experiments/studies/quickstart.yaml", file);
  replace(text, "name: quickstart", "name: first-study");
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
