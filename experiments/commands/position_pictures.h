#pragma once

#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/report/report_data.h"
#include "models/position/position.h"

namespace ablate::commands {

/// The stack of a picture, with positions 0 to length - 1.
struct DrawnStack {
  int64_t length = 48;
  models::PositionContext context{
      .d_model = 64, .heads = 4, .d_k = 16, .d_v = 16, .layers = 1, .causal = false};
};

/// Every distinct scheme that the study's arms use, in a small stack: the encoder's if the model
/// has one.
std::vector<report::PositionPicture> position_pictures(const config::Study& study);

/// An HTML page of every scheme's pictures.
std::string position_page(const DrawnStack& stack);

}  // namespace ablate::commands
