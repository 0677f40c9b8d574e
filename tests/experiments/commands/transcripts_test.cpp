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
    write_file(folder_ / ".transcript",
               "exec 2>&1\n"
               "ablate() { command ablate \"$@\" || echo \"exit code $?\" >&2; }\n" +
                   row.text);
    auto said =
        shell("cd " + folder_.string() + " && PATH=" ABLATE_BUILD ":$PATH bash .transcript");
    if (said.output.ends_with('\n')) said.output.pop_back();
    return replaced_everywhere(said.output, folder_.string(), "FOLDER");
  }
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
