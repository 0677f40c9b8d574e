#include <gtest/gtest.h>

#include "experiments/errors.h"
#include "experiments/schedule/slurm.h"
#include "tests/says.h"

namespace ablate::schedule {
namespace {

using Words = std::vector<std::string>;

TEST(SlurmFlags, AreDividedAtBlanksOutsideOfQuotationMarks) {
  EXPECT_EQ(slurm::flags_in(""), Words{});
  EXPECT_EQ(slurm::flags_in(" --partition=gpu  --time=4:00:00\t"),
            (Words{"--partition=gpu", "--time=4:00:00"}));
  EXPECT_EQ(slurm::flags_in("--comment='a \"b\" c' --mail-user=\"it's me\" -C ''"),
            (Words{"--comment=a \"b\" c", "--mail-user=it's me", "-C", ""}));
}

TEST(SlurmFlags, AQuotationMarkThatIsNotClosedIsNamed) {
  EXPECT_EQ(refusal_of<UsageError>([&] { slurm::flags_in("--comment='a b"); }),
            "--slurm: a ' is not closed in --comment='a b");
}

}  // namespace
}  // namespace ablate::schedule
