#include <map>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"
#include "training/storage/sealed_json.h"

namespace ablate::commands {
namespace {

/// Two arms that differ by the width of the feed-forward, a few steps each.
class ReportCommand : public ProgramTest {
 protected:
  ReportCommand() {
    auto text = read_file(study());
    text +=
        "arms:\n  narrow: {}\n  wide: { model.feed_forward.d_hidden: 48 }\n"
        "compare: { baseline: narrow, metric: exact_match }\n";
    write_file(study(), text);
  }

  Outcome train(const std::string& more = "") const {
    return shell(command("out", "--set training.steps=5 --seeds 1,2 --jobs 1 " + more));
  }
  std::filesystem::path folder() const { return folder_ / "out" / "tiny"; }

  std::map<std::string, std::string> tables() const { return tables_in(folder()); }

  static std::map<std::string, std::string> tables_in(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const char* name :
         {"results.jsonl", "results.csv", "results.json", "table.txt", "table.md", "table.tex"})
      files[name] = read_file(folder / name);
    return files;
  }

  void expect(const std::string& claim) const {
    write_file(study(), read_file(study()) + "expect: [\"" + claim + "\"]\n");
  }
};

TEST_F(ReportCommand, MakesTheFilesThatRunWrote) {
  write_file(study(), std::string(read_file(study())).replace(0, 21, "name: tiny\nseeds: [1, 2]"));
  ASSERT_EQ(train().code, 0);
  const auto written = tables();
  for (const auto& [name, bytes] : written) {
    EXPECT_FALSE(bytes.empty()) << name;
    std::filesystem::remove(folder() / name);
  }
  const auto outcome = shell(kProgram + " report " + folder().string());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(tables(), written);
  EXPECT_EQ(outcome.output, written.at("table.txt"));
  const std::map<std::string, std::string> formats{{"text", "table.txt"},
                                                   {"csv", "results.csv"},
                                                   {"json", "results.json"},
                                                   {"markdown", "table.md"},
                                                   {"latex", "table.tex"}};
  for (const auto& [format, file] : formats)
    EXPECT_EQ(shell(kProgram + " report " + folder().string() + " --format " + format).output,
              written.at(file));
}

TEST_F(ReportCommand, OfACopyOrAMovedStudyHasItsOwnNumbers) {
  write_file(study(), std::string(read_file(study())).replace(0, 21, "name: tiny\nseeds: [1, 2]"));
  ASSERT_EQ(train().code, 0);
  const auto written = tables();
  const auto copy = folder_ / "out/before", moved = folder_ / "elsewhere";
  std::filesystem::copy(folder(), copy, std::filesystem::copy_options::recursive);
  for (const auto* run : {"copy/narrow/seed-1", "copy/narrow/seed-2", "copy/wide/seed-1"}) {
    auto result = nlohmann::json::parse(read_file(folder() / run / "result.json"));
    for (auto& test : result.at("tests")) test["exact_match"] = 0.123;
    result.at("files").erase("output-length-4.txt");
    write_file(folder() / run / "result.json", training::sealed_json(result));
    write_file(folder() / run / "output-length-4.txt", "another sample\n");
  }
  ASSERT_EQ(shell(kProgram + " report " + copy.string()).code, 0);
  EXPECT_EQ(tables_in(copy), written);
  const std::string other_sample = "another sample";
  EXPECT_EQ(read_file(copy / "report.html").find(other_sample), std::string::npos);
  std::filesystem::rename(copy, moved);
  const auto outcome = shell(kProgram + " report " + moved.string());
  EXPECT_EQ(outcome.output, written.at("table.txt"));
  EXPECT_EQ(tables_in(moved), written);
  ASSERT_EQ(shell(kProgram + " report " + folder().string()).code, 0);
  EXPECT_NE(tables(), written);
  EXPECT_NE(read_file(folder() / "report.html").find(other_sample), std::string::npos);
}

TEST_F(ReportCommand, NamesARunThatIsMissing) {
  ASSERT_EQ(train().code, 0);
  std::filesystem::remove(folder() / "copy/wide/seed-1/result.json");
  const auto outcome = shell(kProgram + " report " + folder().string());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("missing: copy/wide/seed-1: interrupted"), std::string::npos)
      << outcome.output;
}

TEST_F(ReportCommand, OfNoStudyIsAUsageError) {
  EXPECT_EQ(shell(kProgram + " report " + folder_.string() + " 2>/dev/null").code, 2);
}

TEST_F(ReportCommand, AFailedExpectationIsExitOneWithItsNumbersAfterTheResults) {
  expect("wide.exact_match > 2");
  const auto outcome = train();
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("what the study expects does not hold:\n  wide.exact_match > 2: "),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(read_file(folder() / "table.txt").find("does NOT hold"), std::string::npos);
}

TEST_F(ReportCommand, AnExpectationThatHoldsIsSaidToHold) {
  expect("wide.exact_match <= 1");
  const auto outcome = train();
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("expected: wide.exact_match <= 1: holds"), std::string::npos);
}

TEST_F(ReportCommand, CompareShowsDifferingKeysAndScores) {
  ASSERT_EQ(train().code, 0);
  const auto arms = shell(kProgram + " compare " + folder().string());
  EXPECT_EQ(arms.code, 0) << arms.output;
  for (const char* part : {"copy/narrow (2 seeds)", "copy/wide (2 seeds)",
                           "model.feed_forward.d_hidden", "exact match (higher is better)"})
    EXPECT_NE(arms.output.find(part), std::string::npos) << part << "\n" << arms.output;
  EXPECT_EQ(arms.output.find("model.d_model"), std::string::npos) << arms.output;
  const auto runs = "compare " + (folder() / "copy/narrow/seed-1").string() + " " +
                    (folder() / "copy/narrow/seed-2").string();
  EXPECT_NE(shell(kProgram + " " + runs + " --all").output.find("model.d_model"),
            std::string::npos);
  const auto json = nlohmann::json::parse(shell(kProgram + " " + runs + " --json").output);
  EXPECT_EQ(json.at("columns").at(1).at("name"), "copy/narrow/seed-2");
  EXPECT_EQ(json.at("same_data"), true);
  EXPECT_EQ(shell(kProgram + " compare " + folder_.string() + "/none 2>/dev/null").code, 2);
}

TEST_F(ReportCommand, CompareTellsAStudyFromItsCopy) {
  ASSERT_EQ(train("--arms narrow").code, 0);
  const auto copy = folder_ / "copy";
  std::filesystem::copy(folder(), copy, std::filesystem::copy_options::recursive);
  for (const auto* run : {"copy/narrow", "copy/narrow/seed-1"}) {
    const auto one = (folder() / run).string(), other = (copy / run).string();
    const auto json =
        nlohmann::json::parse(shell(kProgram + " compare " + one + " " + other + " --json").output);
    EXPECT_EQ(json.at("columns").at(0).at("name"), one);
    EXPECT_EQ(json.at("columns").at(1).at("name"), other);
  }
}

}  // namespace
}  // namespace ablate::commands
