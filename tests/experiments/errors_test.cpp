#include "experiments/errors.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ablate {
namespace {

TEST(ExitCode, ADocumentedCodeMeansItself) {
  for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 75})
    EXPECT_EQ(static_cast<int>(meaning_of(code)), code);
}

TEST(ExitCode, ASignalMeansADocumentedCode) {
  EXPECT_EQ(meaning_of(128 + SIGKILL), ExitCode::memory);
  EXPECT_EQ(meaning_of(128 + SIGSEGV), ExitCode::internal);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EQ(meaning_of(128 + signal), ExitCode::interrupted);
  EXPECT_EQ(meaning_of(127), ExitCode::internal);
}

TEST(ExitCode, AFaultOfTheProgramIsMoreSeriousThanOneOfTheInput) {
  EXPECT_EQ(more_serious(ExitCode::diverged, ExitCode::internal), ExitCode::internal);
  EXPECT_EQ(more_serious(ExitCode::data, ExitCode::diverged), ExitCode::data);
  EXPECT_EQ(more_serious(ExitCode::diverged, ExitCode::interrupted), ExitCode::diverged);
  EXPECT_EQ(more_serious(ExitCode::ok, ExitCode::interrupted), ExitCode::interrupted);
  EXPECT_EQ(more_serious(ExitCode::memory, ExitCode::memory), ExitCode::memory);
}

}  // namespace
}  // namespace ablate
