#pragma once

#include "experiments/config/study/parsed_study.h"

namespace ablate::config {

/// Adds the arm of compare.control behind all others. If the key is not given, this is its default:
/// whether three arms or more are trained in every setting, the baseline among them and none of
/// them from its weights, and no arm has the name of the control. Reports an arm of that name if
/// the key asks for a control. REQUIRES: settings and arms are read.
void add_control(ParsedStudy& study);

}  // namespace ablate::config
