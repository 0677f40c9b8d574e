#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

/// The names in `json`, at every depth, but digests of parameters and paths of options.
void collect_names(const nlohmann::json& json, std::set<std::string>& names) {
  static const std::regex kNoField("[0-9a-f]{16}|.*[.].*");
  if (json.is_object())
    for (const auto& item : json.items())
      if (!std::regex_match(item.key(), kNoField)) names.insert(item.key());
  if (json.is_structured())
    for (const auto& value : json) collect_names(value, names);
}

/// A file's name as the page writes it: "output-<test set>.txt".
std::string pattern_of(std::string name) {
  for (const auto& [found, written] :
       {std::pair{"^(source|reference|output)-.*[.]txt", "$1-<test set>.txt"},
        std::pair{"^[0-9]{6}$", "<number>"}, std::pair{"^beat-[0-9]+", "beat-<number>"},
        std::pair{"^events[.]out[.].*", "events.out.tfevents.<seconds>.<host>.<process>.0"}})
    name = std::regex_replace(name, std::regex(found), written);
  return name;
}

/// The names of all files below `folder`, of all fields of JSON files, and of the table's columns.
std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto& file = entry.path();
    names.insert(pattern_of(file.filename()));
    if (file.extension() == ".json") collect_names(read_json(file), names);
    if (file.extension() == ".jsonl")
      for (const auto& line : lines_of(read_file(file)))
        collect_names(nlohmann::json::parse(line), names);
    if (file.extension() == ".csv") {
      std::istringstream columns(lines_of(read_file(file)).front());
      for (std::string name; std::getline(columns, name, ',');)
        names.insert(std::regex_replace(name, std::regex("^seed_1$"), "seed_<n>"));
    }
  }
  return names;
}

TEST_F(ProgramTest, EveryFileAndFieldThatAStudyWritesStandsInThePageOnRunFolders) {
  const auto tiny = read_file(study());
  write_file(study(), "question: What is written?\n" + tiny + R"(
arms:
  dense: {}
  experts: { model.feed_forward: { kind: moe, experts: 4, active: 2, d_hidden: 16 } }
  failing: { training.pretrained_embeddings: { source: narrow.txt } }
compare: { baseline: dense, metric: exact_match, margin: 0.1, control: false }
expect: ["dense.exact_match >= 0"]
tune: { by: shared, keys: { training.label_smoothing: [0.0, 0.1] }, seeds: [9] }
)");
  write_file(folder_ / "narrow.txt", "a 1\n");
  ASSERT_TRUE(
      ends(shell(command("out", "--set training.steps=16 --set training.observe.every=8")), 3));
  const auto page = read_file(std::filesystem::path(ABLATE_SOURCE) / "docs/run_folder.md");
  const auto names = names_in(folder_ / "out/tiny");
  for (const auto* sought : {"failure.json", "router_gradient", "observed", "libtorch",
                             "validation_loss", "within", "tfevents", "manifest.json"})
    EXPECT_TRUE(std::ranges::any_of(names, [&](const auto& name) {
      return name.find(sought) != std::string::npos;
    })) << sought;
  for (const auto& name : names) EXPECT_TRUE(says(page, "`" + name + "`")) << name;
}

}  // namespace
}  // namespace ablate::commands
