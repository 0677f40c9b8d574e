#include "experiments/run/choices.h"

#include "experiments/config/yaml/problem.h"
#include "tests/experiments/program.h"

namespace ablate::run {
namespace {

constexpr const char* kTune = "tune: {keys: {training.schedule.peak: [0.01, 0.02]}}\n";
constexpr const char* kDeclared =
    "tune: {keys: {training.schedule.peak: [0.01, 0.02]}, on_test_text: true}\n";
constexpr const char* kPatience =
    "arms: {base: {}, a: {training: {evaluate_every: 2, patience: 1}}}\n";

class ChoicesTest : public ProgramTest {
 protected:
  ChoicesTest() {
    std::string validation, test;
    for (int i = 0; i < 60; ++i) {
      validation += "a " + std::to_string(i) + "\n";
      test += "b " + std::to_string(i) + "\n";
    }
    write_file(folder_ / "train.txt", "c 1\nc 2\n");
    write_file(folder_ / "validation.txt", validation);
    write_file(folder_ / "test.txt", test);
    std::filesystem::copy(folder_ / "validation.txt", folder_ / "copy.txt");
    std::filesystem::create_symlink("validation.txt", folder_ / "link.txt");
    write_file(folder_ / "more.txt", test + validation + test);
  }

  /// What is said against a study, up to the first colon; empty: nothing.
  std::string refusal(const std::string& data, const std::string& lines) const {
    const auto file = folder_ / "study.yaml";
    const bool running = data.find("language") != std::string::npos;
    write_file(file, "name: s\nseeds: [1]\nbase: {data: " + data +
                         (running ? ", model: {family: decoder_only}" : "") + "}\n" + lines);
    try {
      check_choices(config::read_study(file));
    } catch (const config::ConfigError& error) {
      const auto& message = error.problems.front().message;
      return message.substr(0, message.find(": "));
    }
    return {};
  }

  static std::string language(const std::string& test) {
    return "{task: language, train: train.txt, validation: validation.txt, test: " + test + "}";
  }
};

TEST_F(ChoicesTest, AreNotMadeOnTheTextThatTestsWhateverItsNameAndForm) {
  for (const std::string test :
       {"validation.txt", "./validation.txt", "copy.txt", "link.txt", "more.txt"}) {
    EXPECT_EQ(refusal(language(test), kTune), "tune would choose values on the test text") << test;
    EXPECT_EQ(refusal(language(test), kPatience),
              "training.patience would choose weights on the test text")
        << test;
    EXPECT_EQ(refusal(language(test), ""), "") << test;
  }
  EXPECT_EQ(refusal(language("test.txt"), kTune), "");
  EXPECT_EQ(refusal(language("test.txt"), kPatience), "");
}

TEST_F(ChoicesTest, OnATaskWhoseSetsAreOneAreDeclared) {
  const std::string facts = "{task: facts, symbols: 4, key: 2}";
  EXPECT_EQ(refusal(facts, kTune), "tune would choose values on the test text");
  EXPECT_EQ(refusal(facts, kDeclared), "");
  EXPECT_EQ(refusal(facts, kPatience), "training.patience would choose weights on the test text");
  EXPECT_EQ(refusal("{task: capo, people: 9, versions: 1, templates: 1}", kPatience),
            "training.patience would choose weights on the test text");
  EXPECT_EQ(refusal("{task: language, train: train.txt}", kDeclared), "");
}

/// The validation text of the run that training starts from has chosen its weights.
TEST_F(ChoicesTest, OfAnEarlierRunCountToo) {
  const auto starting = [](const std::string& first, const std::string& start) {
    return "arms:\n  base: {training: {evaluate_every: 2, " + first +
           "}}\n  a: {training: {init_from: {arm: base, " + start +
           "}}, data: {validation: test.txt, test: copy.txt}}\n";
  };
  EXPECT_EQ(refusal(language("test.txt"), starting("patience: 0", "weights: best")),
            "training.init_from.weights were chosen on the test text");
  EXPECT_EQ(refusal(language("test.txt"), starting("patience: 2", "weights: evaluated")),
            "training.init_from.weights were chosen on the test text");
  EXPECT_EQ(refusal(language("test.txt"), starting("patience: 0", "weights: last")), "");
}

TEST_F(ChoicesTest, OfRunsBeforeTheEarlierOneCountToo) {
  const std::string chain =
      "arms:\n  base: {training: {evaluate_every: 2, patience: 2}}\n"
      "  between: {training: {steps: 0, init_from: {arm: base}}, "
      "data: {validation: test.txt, test: train.txt}}\n"
      "  a: {training: {steps: 0, init_from: {arm: between}}, "
      "data: {validation: test.txt, test: copy.txt}}\n";
  EXPECT_EQ(refusal(language("test.txt"), chain),
            "training.init_from.weights were chosen on the test text");
}

}  // namespace
}  // namespace ablate::run
