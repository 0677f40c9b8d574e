#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/encoded_example.h"
#include "data/masking.h"
#include "models/transformer.h"
#include "training/observe_options.h"

namespace ablate::training {

/// One figure of one place in a model.
struct Observation {
  std::string what;  // an Observable, or an estimate behind gradient_noise
  /// What is called so among the parameters, such as encoder.layers.0.attention, or "model". A
  /// layer that runs several times is a layer each time.
  std::string place;
  double value;               // the mean over the heads where there are any
  std::vector<double> heads;  // of an attention
};

/// The line of a run log that holds one.
nlohmann::json to_json(const Observation& observation, int64_t step);

struct ObservedExamples {
  std::span<const data::EncodedExample> examples;
  int64_t tokens_per_batch;
  std::optional<data::Masking> masking = {};
};

/// The first examples in their order, as many as a batch holds, and at most 4,096 padded tokens of
/// a side. Masking hides the same tokens every time. REQUIRES: an example.
data::Batch observed_batch(const ObservedExamples& observed);

/// What the model does with a batch in evaluation, from the first layer to the last: of attention
/// with scores its entropy and sink, where the sink is that of queries which see the first key and
/// another; the residual behind every layer; and active neurons of feed-forwards, of a mixture's
/// experts those that a position uses.
std::vector<Observation> observe_pass(models::Transformer& model, const data::Batch& batch,
                                      const ObserveOptions& options);

}  // namespace ablate::training
