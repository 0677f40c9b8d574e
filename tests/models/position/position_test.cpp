#include "models/position/position.h"

#include <gtest/gtest.h>

#include "tests/models/position/contexts.h"

namespace ablate::models {
namespace {

TEST(Position, RelativeSchemesDependOnDistancesAlone) {
  const std::vector<PositionOptions> schemes = {Alibi{}, T5Bias{}, Kerple{}, Sandwich{}};
  for (const auto& scheme : schemes) {
    const auto position = initialized(make_position(scheme, kEncoder));
    const auto here = position->bias(torch::arange(5), torch::arange(7)).detach();
    expect_near(position->bias(torch::arange(5) + 100, torch::arange(7) + 100).detach(), here);
  }
}

}  // namespace
}  // namespace ablate::models
