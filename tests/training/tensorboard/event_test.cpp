#include "training/tensorboard/event.h"

#include <gtest/gtest.h>

#include "tests/recorded.h"
#include "tests/training/event_reader.h"
#include "tests/training/folder_test_case.h"

namespace ablate::training {
namespace {

constexpr double kTime = 1700000000.25;

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

TEST(Event, HasTheBytesThatTensorBoardItselfWrites) {
  const auto& golden = recorded("training/golden/tensorboard_events.json");
  const auto expect = [&](const char* name, int64_t step, auto what) {
    EXPECT_EQ(hexadecimal(framed(encode({kTime, step, std::move(what)}))),
              golden.at(name).get<std::string>())
        << name;
  };
  expect("version", 0, FileVersion{});
  expect("restart", 301, Restart{});
  expect("session", 0,
         Session{"study/task/learned 1a2b3c4d",
                 {{"arm", "learned"}, {"model.layers", 2.0}, {"model.residual", true}}});
  expect("scalars", 300, std::vector<Scalar>{{"training/loss", 1.5}, {"training/skipped", 0}});
  expect("end", 600, SessionEnd{});
}

TEST(Event, NumbersOfALogLineBecomeCurves) {
  const auto tags = [](const nlohmann::json& record) {
    std::string text;
    for (const auto& scalar : scalars_of(record)) text += scalar.tag + " ";
    return text;
  };
  EXPECT_EQ(tags({{"step", 5}, {"loss", 2.5}, {"tokens", 80}}), "training/loss training/tokens ");
  EXPECT_EQ(tags({{"step", 5}, {"tokens", 80}, {"validation_loss", 2.5}}), "validation/loss ");
  EXPECT_EQ(tags({{"step", 5}, {"mixture", "decoder.layers.0"}, {"shares", {0.5, 0.5}}, {"z", 1}}),
            "decoder.layers.0/z ");
  EXPECT_EQ(tags({{"step", 5},
                  {"observed", "attention_sink"},
                  {"place", "decoder.layers.0.attention"},
                  {"value", 0.25},
                  {"heads", {0.5, 0.0}}}),
            "decoder.layers.0.attention/attention_sink ");
}

class EventFileTest : public FolderTestCase {
 protected:
  static std::vector<Scalar> loss(double value) { return {{"training/loss", value}}; }
};

TEST_F(EventFileTest, BeginsWithItsVersion) {
  EventFile(folder(), 3).add(3, loss(0.5));
  const auto events = read_events(event_files(folder()).at(0));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_TRUE(events[1].restart);
  EXPECT_EQ(events[2].step, 3);
  EXPECT_EQ(events[2].scalars.at("training/loss"), 0.5F);
}

TEST_F(EventFileTest, LaterFilesHaveLaterNames) {
  for (int64_t number = 1; number <= 12; ++number) EventFile(folder(), number);
  int64_t expected = 0;
  for (const auto& file : event_files(folder())) EXPECT_EQ(read_events(file)[1].step, ++expected);
  EXPECT_EQ(expected, 12);
}

TEST_F(EventFileTest, ARestartLeavesEachStepOnce) {
  EventFile first(folder(), 1);
  for (int64_t step = 1; step <= 8; ++step) first.add(step, loss(1.0));
  EventFile second(folder(), 7);  // the last two steps were not saved
  for (int64_t step = 7; step <= 10; ++step) second.add(step, loss(2.0));
  const auto curve = curves_of(folder()).at("training/loss");
  ASSERT_EQ(curve.size(), 10U);
  for (size_t i = 0; i < curve.size(); ++i) {
    EXPECT_EQ(curve[i].first, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(curve[i].second, i < 6 ? 1.0F : 2.0F);
  }
}

TEST_F(EventFileTest, AFileCutAnywhereIsReadUpToTheCut) {
  EventFile(folder(), 1).add(1, loss(1.0));
  const auto file = event_files(folder()).at(0);
  const auto whole = read_bytes(file);
  for (size_t size = 0; size <= whole.size(); ++size) {
    std::filesystem::resize_file(file, size);
    const size_t events = size == whole.size() ? 3 : size >= 40 + 31 ? 2 : size >= 40 ? 1 : 0;
    EXPECT_EQ(read_events(file).size(), events) << size;
    std::filesystem::remove(file);
    write_durably(file, whole);
  }
}

}  // namespace
}  // namespace ablate::training
