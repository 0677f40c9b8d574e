#pragma once

#include "experiments/exchange/exchange.h"

namespace ablate::exchange {

/// Makes a run folder of a model of Hugging Face's Transformers with its tokenizer, or with one of
/// ours (`tokenizers`). `config`, if given, has everything but the model; absent: a task that suits
/// the model and names files that do not exist. No tensor is left over. Throws as
/// read_huggingface() and read_tokenizer(), and UsageError if ours has another vocabulary.
void import_huggingface(const ImportRequest& request);

/// The fields by which a folder asks for another search than a greedy one, and which a run does not
/// read: "num_beams 6, repetition_penalty 1.3", of generation_config.json or, in an older folder,
/// of config.json. Empty if there are none. Throws CheckpointError if the file is not JSON.
std::string unread_generation(const std::filesystem::path& folder);

}  // namespace ablate::exchange
