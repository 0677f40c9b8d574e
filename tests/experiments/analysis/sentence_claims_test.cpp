#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/experiments/analysis/synthetic.h"

namespace ablate::analysis {
namespace {

/// A run's folder with ten sentences, of which `right` are written as they should be.
void write_outputs(const std::filesystem::path& run, int right) {
  std::filesystem::create_directories(run);
  std::ofstream output(run / "output-length-12.txt"), reference(run / "reference-length-12.txt");
  for (int i = 0; i < 10; ++i) {
    const auto line = "a sentence of number " + std::to_string(i) + " is here\n";
    reference << line;
    output << (i < right ? line : "another one that is not the same\n");
  }
}

TEST(SentenceClaims, CompareTheOutputsOfEachSeedThatHasThemOfTheSameReferences) {
  const TemporaryFile file("");
  const auto folder = file.folder() / "s";
  for (const char* seed : {"seed-1", "seed-2", "seed-3"}) {
    write_outputs(folder / "text/base" / seed, 10);
    write_outputs(folder / "text/more" / seed, 2);
  }
  std::filesystem::remove(folder / "text/more/seed-2/reference-length-12.txt");
  std::ofstream others(folder / "text/more/seed-3/reference-length-12.txt");
  for (int i = 0; i < 10; ++i) others << "a sentence of other data\n";
  others.close();
  const std::string yaml =
      "name: s\nseeds: [1, 2, 3]\nbase: {data: {task: text, train: [a, b], validation: [a, b], "
      "test: "
      "[a, b]}}\narms: {base: {}, more: {model.layers: 2}}\n" +
      kCompare;
  auto runs = runs_of({{"base", {1, 1, 1}}, {"more", {0.2, 0.2, 0.2}}});
  runs.folder = folder;
  for (auto& run : runs.results) run.task = "text";
  const auto evidence = evidence_of(yaml, runs);
  for (const char* metric : {"bleu", "chrf"}) {
    const auto& tests = cell_of(evidence, "more", metric).sentence_tests;
    ASSERT_EQ(tests.size(), 1U) << metric;
    EXPECT_EQ(tests[0].seed, 1);
    EXPECT_LT(tests[0].difference, 0);
    EXPECT_LT(tests[0].randomisation_p, 0.05);
  }
  EXPECT_TRUE(cell_of(evidence, "more").sentence_tests.empty());
}

}  // namespace
}  // namespace ablate::analysis
