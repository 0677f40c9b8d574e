#include <gtest/gtest.h>

#include <regex>

#include "experiments/records/failure.h"
#include "experiments/records/result.h"
#include "experiments/records/run_plan.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::records {
namespace {

const std::filesystem::path kRepository = ABLATE_SOURCE;

const std::string kPage = read_file(kRepository / "docs/run_folder.md");

/// What the page says below this heading, to the next one.
std::string section(const std::string& heading) {
  const auto begin = kPage.find("### " + heading + "\n");
  return begin == std::string::npos ? "" : kPage.substr(begin, kPage.find("\n#", begin) - begin);
}

/// Expects each field of the record in the section on its file.
template <class Record>
void expect_fields(const std::string& file) {
  const auto text = section(file);
  Record record;
  Record::fields(record, [&](const std::string& name, const auto&) {
    EXPECT_TRUE(says(text, "`" + name + "`")) << file << ": " << name;
  });
}

TEST(RunFolderPage, NamesEveryFile) {
  const auto spelling = read_file(kRepository / "experiments/records/folders.h") +
                        read_file(kRepository / "experiments/records/folders.cpp");
  const std::regex literal(R"x("([\w.-]{3,})(\{[^"]*)?")x");  // "result.json", "source-{}.txt"
  int files = 0;
  for (std::sregex_iterator at(spelling.begin(), spelling.end(), literal), end; at != end; ++at) {
    EXPECT_TRUE(says(kPage, "`" + (*at)[1].str())) << (*at)[1].str();
    ++files;
  }
  EXPECT_GE(files, 25);
}

TEST(RunFolderPage, NamesEveryFieldOfARunsRecords) {
  expect_fields<RunPlan>("run.json");
  expect_fields<RunResult>("result.json");
  expect_fields<TestScores>("result.json");
  expect_fields<RunFailure>("failure.json");
}

}  // namespace
}  // namespace ablate::records
