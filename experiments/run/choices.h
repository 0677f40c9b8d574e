#pragma once

#include "experiments/config/study/study.h"

namespace ablate::run {

/// Throws ConfigError if a selected run would be tested on what its values or weights are chosen
/// on: by `tune` without `on_test_text`, by patience, or by starting from the best weights of
/// another run. Validation and test sets are read and compared by their content
/// (data::test_in_validation()), those of a run with the validation set of the run that it starts
/// from, if that is still there. Throws DataError if a run's own sets cannot be read.
void check_choices(const config::Study& study);

}  // namespace ablate::run
