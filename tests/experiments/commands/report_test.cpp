#include <map>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"
#include "tests/says.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

/// Two arms that differ by the width of the feed-forward, a few steps each.
class ReportCommand : public ProgramTest {
 protected:
  ReportCommand() {
    append(
        "arms:\n  narrow: {}\n  wide: { model.feed_forward.d_hidden: 48 }\n"
        "compare: { baseline: narrow, metric: exact_match }\n");
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

  void expect(const std::string& claim) const { append("expect: [\"" + claim + "\"]\n"); }
};

TEST_F(ReportCommand, MakesTheFilesThatRunWrote) {
  change("seeds: [1]", "seeds: [1, 2]");
  ASSERT_EQ(train().code, 0);
  const auto written = tables();
  for (const auto& [name, bytes] : written) {
    EXPECT_FALSE(bytes.empty()) << name;
    std::filesystem::remove(folder() / name);
  }
  const auto output = output_of(program("report", folder()));
  EXPECT_EQ(tables(), written);
  EXPECT_TRUE(output.ends_with("Every metric and test set: table.txt\n")) << output;
  const std::map<std::string, std::string> formats{{"text", "table.txt"},
                                                   {"csv", "results.csv"},
                                                   {"json", "results.json"},
                                                   {"markdown", "table.md"},
                                                   {"latex", "table.tex"}};
  for (const auto& [format, file] : formats)
    EXPECT_EQ(program("report", folder(), "--format", format).output, written.at(file));
}

TEST_F(ReportCommand, OfACopyOrAMovedStudyHasItsOwnNumbers) {
  change("seeds: [1]", "seeds: [1, 2]");
  ASSERT_EQ(train().code, 0);
  const auto written = tables();
  const auto copy = folder_ / "out/before", moved = folder_ / "elsewhere";
  std::filesystem::copy(folder(), copy, std::filesystem::copy_options::recursive);
  for (const auto* run : {"copy/narrow/seed-1", "copy/narrow/seed-2", "copy/wide/seed-1"}) {
    auto result = read_json(folder() / run / "result.json");
    for (auto& test : result.at("tests")) test["exact_match"] = 0.123;
    result.at("files").erase("output-length-4.txt");
    write_file(folder() / run / "result.json", training::sealed_json(result));
    std::string outputs;
    for (size_t i = 0; i < lines_of(read_file(folder() / run / "reference-length-4.txt")).size();
         ++i)
      outputs += "another sample\n";
    write_file(folder() / run / "output-length-4.txt", outputs);
  }
  ASSERT_EQ(program("report", copy).code, 0);
  EXPECT_EQ(tables_in(copy), written);
  const std::string other_sample = "another sample";
  EXPECT_FALSE(says(read_file(copy / "report.html"), other_sample));
  std::filesystem::rename(copy, moved);
  const auto outcome = program("report", moved, "--format text");
  EXPECT_EQ(outcome.output, written.at("table.txt"));
  EXPECT_EQ(tables_in(moved), written);
  ASSERT_EQ(program("report", folder()).code, 0);
  EXPECT_NE(tables(), written);
  EXPECT_TRUE(says(read_file(folder() / "report.html"), other_sample));
}

TEST_F(ReportCommand, NamesARunThatIsMissing) {
  ASSERT_EQ(train().code, 0);
  std::filesystem::remove(folder() / "copy/wide/seed-1/result.json");
  EXPECT_TRUE(ends(program("report", folder()), 0, "missing: copy/wide/seed-1: interrupted"));
}

TEST_F(ReportCommand, OfSeveralStudiesTogetherCountsEachRunOnce) {
  train();
  std::filesystem::copy(folder_ / "out/tiny", folder_ / "out/copy",
                        std::filesystem::copy_options::recursive);
  ASSERT_EQ(ablate("pack out/tiny").code, 0);
  for (const std::string again : {"out/../out/tiny/", "out/copy", "out/tiny.zip"})
    EXPECT_TRUE(ends(ablate("report out/tiny " + again + " --together"), 2,
                     "of " + again + " is also one of a study named before it"));
}

TEST_F(ReportCommand, AStudysFileStandsForItsFolderInRuns) {
  const auto there = [&](const std::string& words) {
    return shell("cd " + folder_.string() + " && " + kProgram + " " + words);
  };
  ASSERT_EQ(there("run tiny.yaml 2>/dev/null").code, 0);
  for (const std::string verb : {"report", "status"}) {
    EXPECT_EQ(there(verb + " tiny.yaml 2>/dev/null"),
              (Outcome{0, there(verb + " runs/tiny 2>/dev/null").output}));
  }
  EXPECT_EQ(there("pack tiny.yaml 2>/dev/null").code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "runs/tiny.zip"));
}

TEST_F(ReportCommand, AFailedExpectationIsExitOneWithItsNumbersAfterTheResults) {
  expect("wide.exact_match > 2");
  EXPECT_TRUE(ends(train(), 1, "expectations of the study do not hold:\n  wide.exact_match > 2: "));
  EXPECT_TRUE(says(read_file(folder() / "table.txt"), "does NOT hold"));
}

TEST_F(ReportCommand, AnExpectationThatHoldsIsSaidToHold) {
  expect("wide.exact_match <= 1");
  EXPECT_TRUE(ends(train(), 0, "expected: wide.exact_match <= 1: holds"));
}

/// A study of lines of text, run from its own folder.
class RepeatedStudy : public ReportCommand {
 protected:
  RepeatedStudy() {
    auto text = read_file(study());
    const auto begin = text.find("  data:"), end = text.find("  tokenizer:");
    text.replace(begin, end - begin,
                 "  data: { task: text, train: [train.tsv], validation: [train.tsv], test: "
                 "[train.tsv] }\n");
    text.insert(
        text.find("  wide:"),
        "  beams: { training.steps: 0, training.init_from: { arm: narrow }, decoding.beam: 2 "
        "}\n");
    write_file(study(), text);
    std::string lines;
    for (const char* word : {"a", "b", "c", "d"}) lines += std::string(word) + "\tx " + word + "\n";
    write_file(folder_ / "train.tsv", lines);
  }

  Outcome start(const std::string& more = "") const {
    return ablate("run tiny.yaml --output out --set training.steps=3 --jobs 1 " + more);
  }

  /// The commands that the page shows, as somebody copies them, the one for all of it first.
  std::vector<std::string> commands() const {
    std::vector<std::string> found;
    const auto page = read_file(folder() / "report.html");
    for (size_t at = 0; (at = page.find(">ablate run ", at)) != std::string::npos;) {
      const auto end = page.find('<', ++at);
      auto command = page.substr(at, end - at);
      for (const auto& [escaped, letter] :
           {std::pair{"&#39;", "'"}, {"&quot;", "\""}, {"&lt;", "<"}, {"&amp;", "&"}})
        command = replaced_everywhere(command, escaped, letter);
      found.push_back(command);
    }
    return found;
  }

  /// Runs it as it stands, in the folder of the page.
  Outcome repeat(const std::string& command) const {
    std::filesystem::remove_all(folder_ / "out/repeated");
    return shell("cd " + folder().string() + " && PATH=" + std::string(ABLATE_BUILD) +
                 ":$PATH && " + command + " 2>&1");
  }

  nlohmann::json scores(const std::filesystem::path& study, const std::string& arm) const {
    return scores_in(read_file(study / "text" / arm / "seed-1/result.json"));
  }
};

TEST_F(RepeatedStudy, IsRepeatedByTheCommandsOfItsPageAsTheyStand) {
  ASSERT_TRUE(ends(start("--set 'training.schedule={kind: constant, peak: 0.002}'"), 0));
  const auto all = commands();
  ASSERT_EQ(all.size(), 4U);
  for (const auto& [command, arms] : std::map<std::string, std::vector<std::string>>{
           {all[0], {"narrow", "beams", "wide"}}, {all[2], {"narrow", "beams"}}}) {
    EXPECT_TRUE(command.starts_with("ablate run study.yaml --output ../repeated --data ../.. "))
        << command;
    ASSERT_TRUE(ends(repeat(command), 0)) << command;
    for (const auto& arm : arms)
      EXPECT_EQ(scores(folder_ / "out/repeated/tiny", arm), scores(folder(), arm)) << arm;
  }
}

TEST_F(RepeatedStudy, KeepsTheReportOfAllOfItWhereAPartIsRunAgain) {
  ASSERT_EQ(start("--seeds 1,2").code, 0);
  const auto whole = tables();
  const auto page = read_file(folder() / "report.html");
  std::filesystem::remove_all(folder() / "text/wide/seed-2");
  const auto output = output_of(start("--arms wide --seeds 2"));
  EXPECT_TRUE(says(output, "  wide  "));
  EXPECT_FALSE(says(output, "  narrow  "));
  const auto answer = [](const std::string& table) {
    return nlohmann::json::parse(table).at("answer");
  };
  EXPECT_EQ(answer(tables().at("results.json")), answer(whole.at("results.json")));
  EXPECT_EQ(lines_of(tables().at("results.jsonl")).size(), 6U);
  EXPECT_TRUE(says(read_file(folder() / "report.html"), ">narrow<"));
}

}  // namespace
}  // namespace ablate::commands
