#include "tests/experiments/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "tests/device/fake_cuda/counts.h"
#include "tests/experiments/waiting.h"
#include "tests/folder.h"
#include "tests/says.h"

namespace ablate {
namespace {

const std::string kSource = ABLATE_SOURCE;

/// The program on the device, which may be the stand-in.
std::string on_device(const std::string& arguments) {
#ifdef FAKE_CUDA
  return "env LD_PRELOAD=" FAKE_CUDA " " + kProgram + " " + arguments;
#else
  return kProgram + " " + arguments;
#endif
}

/// Every number that a run has logged, by the step and what it is.
std::map<std::string, double> numbers_of(const std::filesystem::path& run) {
  std::map<std::string, double> numbers;
  for (const auto& line : lines_of(read_file(run / "metrics.jsonl"))) {
    const auto entry = nlohmann::json::parse(line);
    for (const auto* name : {"loss", "validation_loss"})
      if (entry.contains(name))
        numbers[entry.at("step").dump() + " " + name] = entry.at(name).get<double>();
  }
  return numbers;
}

/// How many graphs the processes have launched that wrote their numbers to this file.
int64_t graphs_launched(const std::filesystem::path& file) {
  int64_t launched = 0;
  for (const auto& line : lines_of(read_file(file))) launched += std::stoll(line);
  return launched;
}

/// The studies of this folder, each run once on the stand-in.
class DeviceProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("OMP_NUM_THREADS", "1", 1);
    for (const std::string study : {"components", "languages"}) {
      ASSERT_TRUE(ends(shell(on_device(run_arguments(study, "cuda")) + " 2>&1"), 0));
    }
  }

  static std::string run_arguments(const std::string& study, const std::string& device) {
    return "run " + kSource + "/tests/device/" + study + ".yaml --data " + kSource +
           " --set training.device=" + device + " --output " + (folder_ / device).string();
  }
  /// The program running the base arm on the device.
  static std::string run_base(const std::string& output, const std::string& flags) {
    return on_device("run " + kSource + "/tests/device/components.yaml --arms base " + flags +
                     " --set training.device=cuda --output " + (folder_ / output).string() +
                     " 2>&1");
  }
  static std::filesystem::path arm(const std::string& name, const std::string& device = "cuda") {
    return folder_ / device / "components/reverse" / name / "seed-1";
  }
  /// What a verb prints on the stand-in; it has to succeed.
  static std::string printed(const std::string& arguments) {
    const auto outcome = shell(on_device(arguments) + " 2>" + (folder_ / "errors").string());
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << read_file(folder_ / "errors");
    return outcome.output;
  }

  static inline const Folder own_;
  static inline const auto& folder_ = own_.path;
};

TEST_F(DeviceProgram, EveryArmLosesOnTheDeviceWhatItLosesOnTheCpu) {
  for (const std::string study : {"components", "languages"}) {
    ASSERT_TRUE(ends(shell(kProgram + " " + run_arguments(study, "cpu") + " 2>&1"), 0));
  }
  int compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "cpu")) {
    if (entry.path().filename() != "result.json") continue;
    const auto run = entry.path().parent_path();
    SCOPED_TRACE(run);
    const auto here = numbers_of(run),
               there = numbers_of(folder_ / "cuda" / run.lexically_relative(folder_ / "cpu"));
    ASSERT_GE(here.size(), 4U);
    ASSERT_EQ(here.size(), there.size());
    const auto arm = run.parent_path().filename().string();
    const auto is_one_of = [&](std::initializer_list<std::string_view> arms) {
      return std::ranges::find(arms, arm) != arms.end();
    };
    ++compared;
    // Every kind of device draws the noise of routers on its own.
    if (!fake_cuda::is_present() && is_one_of({"switch", "noisy", "gshard"})) continue;
    // bfloat16 keeps eight bits, TF32 eleven, and a CPU without their products trains in float. Of
    // equal eigenvalues, as of directions that no gradient has had yet, rounding decides which
    // eigenvectors SOAP takes later steps in.
    const double tolerance = is_one_of({"bf16", "tf32", "soap"}) ? 2e-2 : 2e-5;
    for (const auto& [name, number] : here) EXPECT_NEAR(number, there.at(name), tolerance) << name;
  }
  EXPECT_EQ(compared, 43);
}

TEST_F(DeviceProgram, Tf32IsOfTheDeviceAlone) {
  const auto precision = [&](const std::string& device) {
    return nlohmann::json::parse(read_file(arm("tf32", device) / "environment.json"))
        .at("precision");
  };
  EXPECT_EQ(precision("cuda"), "tf32");
  const auto here =
      shell(kProgram + " run " + kSource + "/tests/device/components.yaml --arms tf32" +
            " --set training.device=cpu --output " + (folder_ / "none").string() + " 2>&1");
  EXPECT_TRUE(says(here.output, "this processor has no tf32 products: training in fp32"));
}

TEST_F(DeviceProgram, ARunThatIsKilledEndsBitForBitAsIfItHadNotBeen) {
  const auto start = [&](const std::string& output, const std::string& graphs = "auto") {
    return "env FAKE_CUDA_GRAPHS=" + (folder_ / output).string() + "-graphs " +
           run_base(output,
                    "--set model.dropout=0.1 --set training.steps=60 --set training.save_every=7 "
                    "--set training.keep=9 --set training.graphs=" +
                        graphs);
  };
  const auto run = [&](const std::string& output) {
    return folder_ / output / "components/reverse/base/seed-1";
  };
  const auto state = [&](const std::string& output) {
    const auto last = run(output) / "checkpoints/step-00000060";
    return read_file(last / "model.safetensors") + read_file(last / "optimizer.safetensors") +
           log_of(run(output));
  };
  const auto has = [&](const std::string& file, const std::string& text) {
    return eventually(
        [&] { return read_file(run("killed") / file).find(text) != std::string::npos; });
  };
  auto held = std::make_unique<HeldBeforeSaving>(run("killed"));
  pid_t process = start_process(start("killed"));
  EXPECT_TRUE(has("metrics.jsonl", "\"step\""));
  kill(process, SIGTERM);
  held.reset();
  EXPECT_EQ(end_of(process), 75) << "so that another process goes on in any case";
  process = start_process(start("killed"));
  EXPECT_TRUE(has("log.txt", "continuing after step"));
  kill(-process, SIGKILL);
  end_of(process);
  ASSERT_EQ(shell(start("killed")).code, 0);
  ASSERT_EQ(shell(start("whole")).code, 0);
  EXPECT_GT(state("whole").size(), 10'000U);
  EXPECT_EQ(state("killed"), state("whole"));
  if (!fake_cuda::is_present()) return;
  ASSERT_EQ(shell(start("eager", "off")).code, 0);
  EXPECT_EQ(graphs_launched(folder_ / "whole-graphs"), 60);
  EXPECT_EQ(graphs_launched(folder_ / "eager-graphs"), 0);
  EXPECT_EQ(state("killed"), state("eager"));
}

TEST_F(DeviceProgram, AnEstimateTimesUpdatesAsTrainingMakesThem) {
  if (!fake_cuda::is_present()) GTEST_SKIP() << "of the stand-in alone";
  const auto graphs = folder_ / "estimate-graphs";
  ASSERT_TRUE(ends(shell("FAKE_CUDA_GRAPHS=" + graphs.string() + " " +
                         run_base("estimate", "--dry-run --set training.steps=3")),
                   0));
  EXPECT_EQ(graphs_launched(graphs), 2 * (2 + 3)) << "each once before it is timed; two untimed";
}

/// The study with three seeds of one arm, which may run side by side. Their batches have one size,
/// so that all take the same memory.
class SharedDevice : public DeviceProgram {
 protected:
  SharedDevice() {
    auto text = read_file(kSource + "/tests/device/components.yaml");
    const auto replace = [&](const std::string& words, const std::string& others) {
      text.replace(text.find(words), words.size(), others);
    };
    replace("seeds: [1]", "seeds: [1, 2, 3]");
    replace("train_length: [1, 6]", "train_length: [6, 6]");
    write_file(folder_ / "seeds.yaml", text);
  }
  std::string command(const std::string& output, int64_t gpu_bytes) const {
    return fmt::format("env FAKE_CUDA_BYTES={} {} 2>&1", gpu_bytes,
                       on_device("run " + (folder_ / "seeds.yaml").string() +
                                 " --arms base --jobs 3 --set training.device=cuda --output " +
                                 (folder_ / output).string()));
  }
  std::filesystem::path run(const std::string& output, int seed) const {
    return folder_ / output / "components/reverse/base" / ("seed-" + std::to_string(seed));
  }
  bool began_after(const std::filesystem::path& later, const std::filesystem::path& earlier) const {
    using std::filesystem::last_write_time;
    return last_write_time(later / "config.yaml") > last_write_time(earlier / "result.json");
  }
  /// What a run takes of the stand-in.
  int64_t needed() const {
    EXPECT_EQ(shell(command("alone", int64_t{1} << 32) + " --seeds 1").code, 0);
    return nlohmann::json::parse(read_file(run("alone", 1) / "result.json")).at("memory_bytes");
  }
};

TEST_F(SharedDevice, RunsBehindTheFirstShareIt) {
  if (!fake_cuda::is_present()) GTEST_SKIP() << "of the stand-in alone";
  pid_t process = 0;
  {
    const HeldBeforeSaving second(run("wide", 2)), third(run("wide", 3));
    process = start_process(command("wide", 10 * needed()));
    for (const int seed : {2, 3})
      EXPECT_TRUE(eventually([&] {
        return std::filesystem::exists(run("wide", seed) / "config.yaml");
      })) << seed;
  }
  EXPECT_EQ(end_of(process), 0);
  for (const int seed : {2, 3}) EXPECT_TRUE(began_after(run("wide", seed), run("wide", 1)));
}

TEST_F(SharedDevice, RunsWaitForMemoryThatOthersTake) {
  if (!fake_cuda::is_present()) GTEST_SKIP() << "of the stand-in alone";
  ASSERT_TRUE(ends(shell(command("narrow", needed() * 3 / 2)), 0));
  EXPECT_TRUE(began_after(run("narrow", 2), run("narrow", 1)));
  EXPECT_TRUE(began_after(run("narrow", 3), run("narrow", 2)));
}

TEST_F(DeviceProgram, EveryVerbThatReadsARunComputesOnTheDevice) {
  const auto run = arm("base").string();
  EXPECT_EQ(scores_in(printed("eval " + run + " --json")),
            scores_in(read_file(arm("base") / "result.json")));
  const auto source = (folder_ / "source").string(), target = (folder_ / "target").string();
  write_file(source, "a b c\nd e\n");
  write_file(target, "c b a\ne d\n");
  EXPECT_EQ(
      lines_of(printed("score " + run + " --source " + source + " --target " + target)).size(), 2U);
  const auto translate = "translate " + run + " --threads 1 ";
  const std::vector<std::string> ways = {"--beam 3 --n-best 2", "--precision bf16 --beam 2",
                                         "--sample --top-k 4 --mbr 3", "--min-length 3",
                                         "--prefixes " + target};
  for (const auto& flags : ways)
    EXPECT_GE(lines_of(printed(translate + flags + " <" + source)).size(), 2U) << flags;
  printed("inspect attention " + run + " --text 'a b c' --to " + (folder_ / "page.html").string());
  printed("generate " + (folder_ / "cuda/languages/language/decoder/seed-1").string() +
          " --prompt 'Permission is' --max-length 8");
}

TEST_F(DeviceProgram, AGpuThatFailsEndsTheRunWithItsOwnCodeAfterAnotherTry) {
  if (!fake_cuda::is_present()) GTEST_SKIP() << "of the stand-in alone";
  EXPECT_TRUE(
      ends(shell("FAKE_CUDA_FAILS_AT=3000 " + run_base("failing", "--set training.steps=200")), 9));
  const auto failure = nlohmann::json::parse(
      read_file(folder_ / "failing/components/reverse/base/seed-1/failure.json"));
  EXPECT_EQ(failure.at("exit_code"), 9);
  EXPECT_EQ(failure.at("attempts"), 2);
  EXPECT_EQ(failure.at("message"), "CUDA error: an illegal memory access was encountered");
}

TEST_F(DeviceProgram, RecordsNameTheCardAndItsDriver) {
  if (!fake_cuda::is_present()) GTEST_SKIP() << "of the stand-in alone";
  const auto start =
      nlohmann::json::parse(read_file(arm("base") / "environment.json")).at("starts").at(0);
  EXPECT_EQ(start.at("gpu"), "stand-in");
  EXPECT_EQ(start.at("driver"), "of CUDA 13.0");
}

// The stand-in's LibTorch is one for CPUs, beside which there is no NCCL.
TEST_F(DeviceProgram, RanksAreRefusedByABuildWithoutNccl) {
  if (!fake_cuda::is_present()) GTEST_SKIP() << "of the stand-in alone";
  EXPECT_TRUE(ends(shell(run_base("ranks", "--ranks 2 --set training.accumulate=2")), 2,
                   "this build of ablate has no NCCL"));
}

TEST_F(DeviceProgram, ExportedFilesAreThoseOfARunOnTheCpu) {
  const auto file = (folder_ / "model.pt").string(), folder = (folder_ / "weights").string();
  printed("export " + arm("base").string() + " --to " + file);
  printed("export " + arm("base").string() + " --to " + folder + " --format safetensors");
  EXPECT_EQ(shell(kProgram + " verify --trust " + file + " 2>&1").code, 0)
      << "on a machine without CUDA";
  printed("verify --trust " + file);
}

TEST_F(DeviceProgram, EveryGroupingOfMoefyWorksWithEveryRouter) {
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"random", "oracle"}, {"clusters", "similarity"}, {"coactivation", "network"}};
  for (const auto& [grouping, router] : ways) {
    const auto to = folder_ / ("moefied-" + grouping);
    const auto table = printed("moefy " + arm("base").string() + " --to " + to.string() +
                               " --experts 4 --active 4 --positions 200 --grouping " + grouping +
                               " --router " + router);
    EXPECT_TRUE(says(table, "| 4 of 4 | 1.000 | 1.000 |"));
    printed("eval " + to.string());
  }
}

TEST_F(DeviceProgram, BenchAndDoctorKnowTheDevice) {
  const auto study = kSource +
                     "/tests/device/components.yaml --set training.device=cuda "
                     "--steps 2 --vocabulary 100 --threads 1 --json";
  EXPECT_GT(nlohmann::json::parse(printed("bench train " + study)).at("loss").get<double>(), 0);
  printed("bench decode " + study + " --batch 2");
  EXPECT_TRUE(says(printed("doctor --output " + folder_.string()), "1 device"));
}

}  // namespace
}  // namespace ablate
