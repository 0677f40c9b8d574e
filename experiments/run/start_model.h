#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include "data/corpus.h"
#include "data/labels.h"
#include "experiments/config/experiment.h"
#include "models/transformer.h"

namespace ablate::run {

/// The run that another one starts from.
struct StartedFrom {
  std::filesystem::path folder;
  const data::Corpus& corpus;                 // what a split records
  uint64_t seed;                              // of a split
  const std::optional<data::Labels>& labels;  // the run's own
};

/// Fills `model`, which `experiment` describes, with weights of the run in `from.folder`, as
/// training.init_from says, and returns which they are: "last of base without encoder.layers.1".
/// They are copied where name and shape are the same, a dense feed-forward into every expert of a
/// mixture of its width; `messages` gets how many there were and which of the model's are its own.
/// Throws UsageError where that run cannot be started from so, or where a parameter of one of the
/// two models has no counterpart and training.init_from.allow does not name it, as the classifier
/// has none in a run of other classes; CheckpointError where that run has no such weights.
std::string start_model(models::TransformerImpl& model, const config::Experiment& experiment,
                        const StartedFrom& from, std::ostream& messages);

}  // namespace ablate::run
