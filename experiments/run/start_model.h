#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include "data/corpus.h"
#include "data/text_encoder.h"
#include "experiments/config/schema/experiment.h"
#include "models/transformer.h"

namespace ablate::run {

/// The run that another one starts from.
struct StartedFrom {
  std::filesystem::path folder;
  const data::Corpus& corpus;                 // read by a split
  uint64_t seed;                              // of a split
  const std::optional<data::Labels>& labels;  // the run's own
};

/// Fills `model`, which `experiment` describes, with weights of the run in `from.folder` by its
/// training.init_from, and returns their description: "last of base without encoder.layers.1". They
/// are copied if name and shape are the same, a dense feed-forward into every expert of a mixture
/// of its width; `messages` gets their number and the parameters that keep their initial values.
/// Throws UsageError if that run does not fit, or if a parameter of one of the two models has no
/// counterpart and training.init_from.allow does not name it, such as the classifier of other
/// classes; CheckpointError if that run has no such weights.
std::string start_model(models::TransformerImpl& model, const config::Experiment& experiment,
                        const StartedFrom& from, std::ostream& messages);

/// Adds the adapters of `options`, drawn by the run's seed, and freezes weights. Throws UsageError
/// if the options do not fit the model.
void choose_trained(models::TransformerImpl& model, const training::TrainingOptions& options,
                    uint64_t seed);

/// "training 400 of 1000 parameters"; empty if all are trained. Says so if a frozen embedding is
/// the output, too.
std::string trained_text(const models::TransformerImpl& model);

}  // namespace ablate::run
