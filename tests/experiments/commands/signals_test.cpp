#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"
#include "tokenizer/text/digest.h"
#include "training/process/folder_claim.h"

namespace ablate::commands {
namespace {

constexpr int kSaved = 75;
constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

/// What cmake/commit.cmake writes.
std::string unit_of(const std::string& commit) {
  return "namespace ablate::run {\nextern const char kCommit[] = \"" + commit + "\";\n}\n";
}

class SignalsTest : public ProgramTest {
 protected:
  SignalsTest() { std::signal(SIGHUP, SIG_DFL); }  // the tests may run under nohup
  std::string log(const std::string& output) const { return read_file(run(output) / "log.txt"); }
};

TEST_F(SignalsTest, AVerbThatSavesNothingDiesByTheSignal) {
  const auto pipe = (folder_ / "run/config.yaml").string();
  const auto run = (folder_ / "run").string();
  const std::vector<std::string> verbs{
      "translate " + run,
      "generate " + run,
      "eval " + run,
      "score " + run + " --source " + study().string() + " --target " + study().string(),
      "export " + run + " --to x",
      "moefy " + run + " --to x",
      "inspect attention " + run + " --text x",
      "inspect model " + pipe,
      "bench decode " + pipe,
      "bench train " + pipe,
      "config check " + pipe,
      "data show " + pipe,
      "metrics --hypotheses " + pipe + " --references x",
      "run --dry-run " + pipe,
      "run " + pipe};
  for (size_t i = 0; i < verbs.size(); ++i) {
    const int signal = kSignals[i % kSignals.size()];
    NamedPipe input(pipe);
    const pid_t process = start_process(kProgram + " " + verbs[i]);
    ASSERT_TRUE(input.has_reader()) << verbs[i];
    kill(process, signal);
    ASSERT_EQ(end_of(process), 128 + signal) << verbs[i];
  }
}

TEST_F(SignalsTest, TheReportOfAStudyDiesByTheSignal) {
  NamedPipe input(folder_ / "tiny/command.json");
  write_file(folder_ / "tiny/study.yaml", "");
  const pid_t process = start_process(kProgram + " report " + (folder_ / "tiny").string());
  ASSERT_TRUE(input.has_reader());
  kill(process, SIGTERM);
  EXPECT_EQ(end_of(process), 128 + SIGTERM);
}

TEST_F(SignalsTest, ARunIsPlannedWhenItStarts) {
  const pid_t process =
      start_process(command("out", "--set training.steps=30000 --seeds 1,2 --jobs 1"));
  ASSERT_TRUE(eventually([&] { return !read_file(run("out") / "metrics.jsonl").empty(); }));
  kill(process, SIGTERM);
  EXPECT_EQ(end_of(process), kSaved);
  EXPECT_FALSE(std::filesystem::exists(run("out").parent_path() / "seed-2"));
}

TEST_F(SignalsTest, ARunThatReadsItsDataEndsAtOnce) {
  change(R"(    task: copy
    symbols: 6
    train_length: [1, 4]
    test_length: [4, 5]
    examples: { train: 400, validation: 40, test: 20 }
)",
         "    task: text\n    train: [pipe]\n    validation: [pipe]\n    test: [pipe]\n");
  for (const int signal : kSignals) {
    NamedPipe input(folder_ / "pipe");
    const pid_t process = start_process(command("out"));
    ASSERT_TRUE(input.has_reader());
    kill(process, signal);
    EXPECT_EQ(end_of(process), kSaved) << signal;
  }
}

TEST_F(SignalsTest, ARunThatEvaluatesEndsAtOnceAndEvaluatesLater) {
  // Takes longer than any machine needs to notice the signal; only its start is ever done.
  change("symbols: 6", "symbols: 26");
  change("test_length: [4, 5]", "test_length: [12, 13]");
  change("test: 20", "test: 5000");
  change("steps: 60", "steps: 1");
  const auto decoding = command("out", "--set decoding.beam=128");
  for (const int signal : kSignals) {
    std::filesystem::remove(run("out") / "log.txt");
    const pid_t process = start_process(decoding);
    const bool first = signal == kSignals.front();
    ASSERT_TRUE(eventually([&] {
      return first ? std::filesystem::exists(run("out") / "checkpoints/step-00000001")
                   : log("out").find("continuing after step 1") != std::string::npos;
    }));
    kill(process, signal);
    EXPECT_EQ(end_of(process), kSaved) << signal;
    EXPECT_FALSE(std::filesystem::exists(run("out") / "result.json"));
    EXPECT_FALSE(std::filesystem::exists(run("out") / "failure.json"));
  }
}

TEST_F(SignalsTest, AFolderThatAnotherProcessHoldsIsWaitedForAndTheWaitCanBeInterrupted) {
  for (const int signal : kSignals) {
    std::filesystem::create_directories(run("out"));
    const training::FolderClaim held(run("out"));
    std::filesystem::remove(run("out") / "log.txt");
    const pid_t process = start_process(command("out"));
    ASSERT_TRUE(eventually([&] { return !log("out").empty(); }));
    EXPECT_EQ(log("out"),
              "waiting for another process that works on " + run("out").string() + "\n");
    kill(process, signal);
    EXPECT_EQ(end_of(process), kSaved) << signal;
  }
  EXPECT_EQ(shell(command("out")).code, 0);
}

TEST_F(SignalsTest, AStudyRunsAsTheFirstProcessOfAContainer) {
  const std::string container = "unshare -rpf --mount-proc ";
  if (shell(container + "true 2>&1").code != 0) GTEST_SKIP() << "no namespaces here";
  EXPECT_TRUE(ends(shell(container + command("out", "--set training.steps=10")), 0));
}

TEST_F(SignalsTest, ARebuildDuringAStudyMixesNoPrograms) {
  const auto program = folder_ / "ablate";
  std::filesystem::copy(kProgram, program);
  std::string words = command("out", "--seeds 1,2 --jobs 1");
  words.replace(0, kProgram.size(), program.string());
  pid_t process = 0;
  {
    std::filesystem::create_directories(run("out"));
    const training::FolderClaim held(run("out"));
    process = start_process(words);
    ASSERT_TRUE(eventually([&] { return !log("out").empty(); }));
    write_file(folder_ / "next", "#!/bin/sh\nexit 9\n");
    std::filesystem::permissions(folder_ / "next", std::filesystem::perms::owner_all);
    std::filesystem::rename(folder_ / "next", program);
  }
  EXPECT_EQ(end_of(process), 0);
  for (const char* seed : {"seed-1", "seed-2"}) {
    const auto file = run("out").parent_path() / seed / "environment.json";
    const auto environment = read_json(file);
    const auto& start = environment.at("starts").at(0);
    EXPECT_EQ(start.at("program_sha256"), tokenizer::sha256(read_file(kProgram)));
    EXPECT_NE(start.at("host"), "");
    EXPECT_NE(start.at("processor"), "");
    EXPECT_EQ(read_file(ABLATE_BUILD "/generated/commit.cpp"), unit_of(start.at("commit")));
  }
}

TEST_F(SignalsTest, TheCommitIsThatOfTheSourceAndNoneOfAnArchive) {
  const auto described = [&](const std::filesystem::path& source) {
    const auto unit = folder_ / "commit.cpp";
    EXPECT_EQ(shell("cmake -DSOURCE=" + source.string() + " -DUNIT=" + unit.string() +
                    " -P " ABLATE_SOURCE "/cmake/commit.cmake 2>&1"),
              (Outcome{0, ""}));
    return read_file(unit);
  };
  EXPECT_EQ(described(folder_), unit_of(""));
  const auto checkout = folder_ / "checkout";
  std::filesystem::create_directories(checkout);
  const auto git = "git -C " + checkout.string() + " -c user.name=a -c user.email=b ";
  write_file(checkout / "file", "one");
  ASSERT_EQ(shell(git + "init -q && " + git + "add file && " + git + "commit -qm one 2>&1").code,
            0);
  auto commit = shell(git + "rev-parse --short HEAD").output;
  commit.pop_back();
  EXPECT_EQ(described(checkout), unit_of(commit));
  write_file(checkout / "file", "two");
  EXPECT_EQ(described(checkout), unit_of(commit + "-dirty"));
}

}  // namespace
}  // namespace ablate::commands
