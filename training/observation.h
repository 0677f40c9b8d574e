#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/augmentation.h"
#include "data/batch.h"
#include "models/transformer.h"
#include "training/observe_options.h"

namespace ablate::training {

/// One quantity at one place in a model.
struct Observation {
  std::string what;  // an Observable, or an estimate behind gradient_noise
  /// A module's name, such as encoder.layers.0.attention, or "model". A layer that runs several
  /// times counts as a layer each time.
  std::string place;
  double value;               // the mean over the heads if there are any
  std::vector<double> heads;  // of an attention
};

/// The line of a run log for one observation.
nlohmann::json to_json(const Observation& observation, int64_t step);

struct ObservedExamples {
  std::span<const data::EncodedExample> examples;
  int64_t tokens_per_batch;
  std::optional<data::Masking> masking = {};
};

/// The first examples in their order, as many as a batch holds, and at most 4,096 padded tokens of
/// a side. Masking is the same every time. REQUIRES: an example.
data::Batch observed_batch(const ObservedExamples& observed);

/// Observations of a batch in evaluation, from the first layer to the last: entropy and sink of
/// attention with scores, the sink over queries that see the first key and another one; the rank
/// residual after every layer; and active neurons of feed-forwards, in a mixture those of the
/// experts that a position uses.
std::vector<Observation> observe_pass(models::Transformer& model, const data::Batch& batch,
                                      const ObserveOptions& options);

/// How one mixture of experts routed the first batch of an update.
struct MixtureRecord {
  std::string name;            // of the module: encoder.layers.0.feed_forward
  int64_t active = 1;          // experts that a position uses
  std::vector<double> shares;  // of the choices that each expert got
  double load = 0, z = 0;      // as in models::RoutingStatistics; 0 if the router has none
  double entropy = 0, dropped = 0;
  double router_gradient = 0;  // norm, over the whole update

  double variation() const;  // standard deviation / mean of the shares
  double highest() const;    // highest / mean share

  /// Why this mixture does not work ("" if it does): all choices fall on the fewest experts
  /// possible, or the router gets no gradient.
  std::string fault() const;
};

/// What is new about a mixture: its fault, if `faulty` does not name it yet, or that its fault has
/// passed; else empty. Keeps `faulty`.
std::string news_of(const MixtureRecord& mixture, std::set<std::string>& faulty);

/// Records of the model's mixtures, from their statistics in the same order and the gradients now
/// in the parameters.
std::vector<MixtureRecord> mixture_records(const models::TransformerImpl& model,
                                           const std::vector<models::RoutingStatistics>& mixtures);

}  // namespace ablate::training
