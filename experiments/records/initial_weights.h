#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "experiments/records/folders.h"

namespace ablate::records {

/// What the parameters of a run start from: how many numbers each digest of a parameter's name,
/// shape and values stands for.
using InitialWeights = std::map<std::string, int64_t>;

/// The share of `arm`'s initial weights, counted in numbers, that `baseline` starts from too, under
/// the same names and in the same shapes. REQUIRES: `arm` is not empty.
double shared_share(const InitialWeights& arm, const InitialWeights& baseline);

/// Keeps them in the run's folder, where a continued run finds what it started from.
void write_initial_weights(const RunFolder& folder, const InitialWeights& weights);
/// Empty where the run was started by a version that did not keep them. Throws CheckpointError
/// where the file is damaged.
InitialWeights read_initial_weights(const RunFolder& folder);

}  // namespace ablate::records
