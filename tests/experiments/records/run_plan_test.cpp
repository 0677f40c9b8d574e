#include "experiments/records/run_plan.h"

#include "tests/experiments/program.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

class RunPlanTest : public ProgramTest {};

TEST_F(RunPlanTest, OfAnEarlierVersionHasNoCrossedSeeds) {
  change("[1]", "{ initialization: [1, 2], order: [1, 2] }");
  const auto planned = config::read_study(study());
  const RunFolder run(folder_ / "run");
  write_plan(run, planned, planned.runs.front());
  EXPECT_TRUE(read_plan(run).crossed);
  auto json = training::read_sealed_json(run.plan());
  json.erase("crossed");
  training::write_durably(run.plan(), training::sealed_json(json));
  EXPECT_FALSE(read_plan(run).crossed);
}

}  // namespace
}  // namespace ablate::records
