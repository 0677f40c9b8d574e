#pragma once

#include "experiments/exchange/exchange.h"

namespace ablate::exchange {

/// Makes a run folder of a model of Hugging Face's Transformers with its tokenizer, or with one of
/// ours (`tokenizers`). `config`, if given, has everything but the model; absent: a task that suits
/// the model and names files that do not exist. Returns 0: no tensor is left over. Throws as
/// read_huggingface() and read_tokenizer(), and UsageError if ours has another vocabulary.
int64_t import_huggingface(const ImportRequest& request);

}  // namespace ablate::exchange
