#pragma once

#include <string>
#include <vector>

#include "models/transformer.h"

namespace ablate::training {

/// What one mixture of experts did in the first batch of an update.
struct MixtureRecord {
  std::string name;            // of the module: encoder.layers.0.feed_forward
  int64_t active = 1;          // experts that a position uses
  std::vector<double> shares;  // of the choices that each expert got
  double load = 0, z = 0;      // as in models::RoutingStatistics; 0 where the router has none
  double entropy = 0, dropped = 0;
  double router_gradient = 0;  // norm, over the whole update

  double variation() const;  // standard deviation / mean of the shares
  double highest() const;    // highest / mean share

  /// Why this mixture does not work as one ("" where it does): all choices fall on the fewest
  /// experts possible, or the router gets no gradient.
  std::string fault() const;
};

/// Records of the model's mixtures, whose statistics stand in their order, with the gradients now
/// in the parameters.
std::vector<MixtureRecord> mixture_records(const models::TransformerImpl& model,
                                           const std::vector<models::RoutingStatistics>& mixtures);

}  // namespace ablate::training
