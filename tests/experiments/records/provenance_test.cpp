#include "experiments/records/provenance.h"

#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/run_start.h"
#include "tests/experiments/program.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

class ProvenanceTest : public ProgramTest {
 protected:
  StudyFolder folder() const { return folder_ / "out/tiny"; }

  /// A run that a program of this commit trained for 90 seconds with two threads.
  void write_run(const RunFolder& run, const std::string& commit) const {
    const RunStart start{.commit = commit};
    training::write_durably(
        run.environment(),
        training::sealed_json({{"threads", 2}, {"starts", {training::to_json(start)}}}));
    write_result(run, {.training_seconds = 90, .data_sha256 = "d", .hardware = "P (AVX2)"});
  }
};

TEST_F(ProvenanceTest, IsOfAllRunsThatHaveFinishedWithThoseThatLookForTheBestValues) {
  const auto study = freeze(this->study(), {}, folder_ / "out");
  auto run = study.runs.front();
  for (const auto* point : {"", "peak=1", "open"}) {
    run.point = point;
    write_plan(folder().run(run), study, run);
  }
  run.point = "";
  write_run(folder().run(run), "one");
  run.point = "peak=1";
  write_run(folder().run(run), "two");
  const auto found = provenance_of(folder());
  EXPECT_EQ(found.commits, (std::set<std::string>{"one", "two"}));
  EXPECT_EQ(found.hardware, std::set<std::string>{"P (AVX2)"});
  EXPECT_EQ(found.core_seconds, 2 * 2 * 90);
  EXPECT_EQ(found.study_sha256, tokenizer::sha256(training::read_bytes(folder().study())));
  EXPECT_EQ(found.data_sha256, std::set<std::string>{"d"});
}

TEST_F(ProvenanceTest, OfAFolderThatIsNotThereIsNothing) {
  const auto found = provenance_of(folder_ / "none");
  EXPECT_TRUE(found.study_sha256.empty());
  EXPECT_TRUE(found.commits.empty());
}

}  // namespace
}  // namespace ablate::records
