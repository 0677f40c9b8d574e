#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "experiments/report/page/page.h"
#include "tests/experiments/program.h"
#include "tests/experiments/report/page/hostile_strings.h"
#include "tests/experiments/report/page/sample_report.h"
#include "tests/folder.h"

namespace ablate::report {
namespace {

using nlohmann::json;

/// A folder for pages, and what a real HTML parser says of them.
class Parsed : public testing::Test {
 protected:
  void add(const std::string& page) {
    const auto file = folder_.path / (std::to_string(1000 + pages_++) + ".html");
    write_file(file, page);
    files_ += " " + file.string();
  }

  std::vector<json> parse() const {
    const auto outcome = shell(
        "/usr/bin/python3 " ABLATE_SOURCE "/tests/experiments/report/page/skeleton.py" + files_);
    EXPECT_EQ(outcome.code, 0) << "skeleton.py failed; make setup-test brings html5lib";
    return json_lines(outcome.output);
  }

  const Folder folder_;
  std::string files_;
  int pages_ = 0;
};

TEST_F(Parsed, APageIsWellFormedAndHoldsNoScript) {
  add(page_of(sample_report()));
  const auto page = parse().at(0);
  EXPECT_EQ(page["xml"], "");
  EXPECT_EQ(page["html"], json::array());
  for (const auto& element : page["elements"])
    EXPECT_TRUE(element != "script" && element != "iframe" && element != "link") << element;
  for (const std::string attribute : page["attributes"]) {
    EXPECT_FALSE(attribute.starts_with("on")) << attribute;
    EXPECT_NE(attribute, "style");
  }
  const std::set<std::string> beside{"table.tex", "results.csv", "forest.svg"};
  for (const std::string reference : page["references"])
    EXPECT_TRUE(reference.starts_with("#") || reference.starts_with("data:image/png;base64,") ||
                beside.contains(reference))
        << reference;
}

/// Every place of the page gets a hostile string of its own until 1,000 were used.
TEST_F(Parsed, AThousandHostileStringsLeaveNoForeignElementOrAttribute) {
  const auto strings = hostile_strings(1000);
  add(page_of(sample_report()));
  std::vector<std::string> questions{"Does it matter?"};
  for (size_t used = 0; used < strings.size();) {
    const auto report = sample_report([&](const std::string& words) {
      const auto& hostile = strings[used++ % strings.size()];
      // Two places of one page must not become the same arm or test set.
      return hostile + words;
    });
    questions.push_back(report.evidence.question);
    add(page_of(report));
  }
  const auto pages = parse();
  ASSERT_EQ(pages.size(), questions.size());
  for (size_t i = 0; i < pages.size(); ++i) {
    EXPECT_EQ(pages[i]["skeleton"], pages[0]["skeleton"]) << questions[i];
    EXPECT_EQ(pages[i]["elements"], pages[0]["elements"]) << questions[i];
    EXPECT_EQ(pages[i]["attributes"], pages[0]["attributes"]) << questions[i];
    EXPECT_EQ(pages[i]["references"], pages[0]["references"]) << questions[i];
    EXPECT_EQ(pages[i]["xml"], "") << questions[i];
    EXPECT_EQ(pages[i]["html"], json::array()) << questions[i];
    EXPECT_EQ(pages[i]["h1"], shown(questions[i]));
  }
}

}  // namespace
}  // namespace ablate::report
