#pragma once

#include "experiments/exchange/exchange.h"

namespace ablate::exchange {

/// Makes a run folder of a model of Hugging Face's Transformers, whose tokenizer is one of ours
/// (`tokenizers`). `config`, if given, has everything but the model; absent: a task that suits the
/// model and names files that do not exist. Returns 0: no tensor is left over. Throws as
/// read_huggingface(), and UsageError without tokenizers or if they have another vocabulary.
int64_t import_huggingface(const ImportRequest& request);

}  // namespace ablate::exchange
