#include "tests/experiments/program.h"
#include "tests/message_table.h"

namespace ablate::commands {
namespace {

/// A row of a table, whose text is a shell script.
class Transcript : public ProgramTest {
 public:
  void TestBody() override {}

  /// The output of the script in a new folder with the tiny study and, for each flag "--trained", a
  /// folder of that name with a finished run. A verb that ends with another code than 0 says so.
  std::string of(const MessageRow& row) const {
    for (const auto& output : row.values("--trained")) given_runs(output);
    auto said = is_plain(row) ? of_lines(row) : of_script(row);
    if (said.ends_with('\n')) said.pop_back();
    return replaced_everywhere(said, folder_.string(), "FOLDER");
  }

 private:
  /// Whether each line is a command of the program that needs no shell.
  static bool is_plain(const MessageRow& row) {
    const auto lines = lines_of(row.text);
    return std::all_of(lines.begin(), lines.end(), [](const auto& line) {
      return line.starts_with(kVerb) && plain_words(line);
    });
  }

  std::string of_lines(const MessageRow& row) const {
    std::string said;
    for (const auto& line : lines_of(row.text)) {
      const auto outcome = ablate(line.substr(kVerb.size()));
      said += outcome.output;
      if (outcome.code != 0) said += "exit code " + std::to_string(outcome.code) + "\n";
    }
    return said;
  }

  std::string of_script(const MessageRow& row) const {
    write_file(folder_ / ".transcript",
               "exec 2>&1\n"
               "ablate() { command ablate \"$@\" || echo \"exit code $?\" >&2; }\n" +
                   row.text);
    return shell("cd " + folder_.string() + " && PATH=" ABLATE_BUILD ":$PATH bash .transcript")
        .output;
  }

  inline static const std::string kVerb = "ablate ";
};

class Transcripts : public testing::TestWithParam<const char*> {};

TEST_P(Transcripts, AreThoseOfTheTable) {
  MessageTable(std::string(ABLATE_SOURCE "/tests/experiments/commands/transcripts/") + GetParam() +
               ".txt")
      .check([](const MessageRow& row) { return Transcript().of(row); });
}

INSTANTIATE_TEST_SUITE_P(Each, Transcripts, testing::Values("data", "runs", "studies", "usage"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace ablate::commands
