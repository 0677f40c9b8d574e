#pragma once

#include <string>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/report/report_data.h"
#include "models/position/position_context.h"
#include "models/position/position_options.h"

namespace ablate::commands {

/// What is drawn: positions 0 to length - 1 of a stack.
struct DrawnStack {
  int64_t length = 48;
  models::PositionContext context{
      .d_model = 64, .heads = 4, .d_k = 16, .d_v = 16, .layers = 1, .causal = false};
};

/// A scheme's vectors, angles and biases as a new model has them; trained ones are drawn as they
/// are initialised. Empty where the scheme acts on content alone.
report::PositionPicture position_picture(const std::string& name,
                                         const models::PositionOptions& scheme,
                                         const DrawnStack& stack);

/// Every distinct scheme that the study's arms use, in a small stack: the encoder's where the model
/// has one.
std::vector<report::PositionPicture> position_pictures(const config::Study& study);

/// An HTML page of every scheme's pictures.
std::string position_page(const DrawnStack& stack);

}  // namespace ablate::commands
