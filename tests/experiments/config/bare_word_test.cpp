#include <gtest/gtest.h>

#include <regex>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

/// The kinds of a section, of which one is chosen by `kind` or, of data, by `task`.
std::vector<std::string> kinds_at(const std::string& section) {
  const auto* node = node_at(experiment_schema(), section);
  const auto* kind = node->find(kKind);
  return kind == nullptr ? node->choices : kind->choices;
}

TEST(ABareWord, IsTheKindOfAnySectionThatHasOne) {
  std::vector<std::string> sections;
  for (const auto& path : all_paths(experiment_schema()))
    if (last_key(path) == kKind) sections.push_back(path.substr(0, path.rfind('.')));
  EXPECT_GT(sections.size(), 15);
  for (const auto& section : sections)
    for (const auto& kind : kinds_at(section)) {
      const auto study = [&](const std::string& value) {
        const std::regex places("study.yaml:\\d+:\\d+");
        return std::regex_replace(messages_of(kBase + "  " + section + ": " + value + "\n"), places,
                                  "");
      };
      EXPECT_EQ(study(kind), study("{kind: " + kind + "}")) << section;
    }
}

TEST(ABareWord, OfALayerIsTheKindThere) {
  const auto run = run_of(
      kModel + "{layers: 2, encoder: {norm: rms}, changes: [{at: [2], norm: none}]}\n", "base");
  const auto layers = models::stack_of(run.experiment.model, models::Side::encoder).layers;
  EXPECT_EQ(layers[0].norm.kind, models::NormKind::rms);
  EXPECT_EQ(layers[1].norm.kind, models::NormKind::none);
}

}  // namespace
}  // namespace ablate::config
