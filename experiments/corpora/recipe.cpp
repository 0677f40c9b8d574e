#include "experiments/corpora/recipe.h"

#include "tokenizer/digest.h"

namespace ablate::corpora {

std::string digest(const Files& files) {
  tokenizer::Digest all;
  for (const auto& [name, bytes] : files) all.add(tokenizer::sha256(bytes) + "  " + name + "\n");
  return all.sha256();
}

}  // namespace ablate::corpora
