#include "tests/fuzz/fuzz.h"
#include "tokenizer/bpe_sampler.h"
#include "tokenizer/tokenizer.h"

namespace ablate::fuzz {

/// A tokenizer of ours or, behind a line of facts, of others, which is then used: on some texts and
/// on its own first bytes.
void tokenizer_model(std::string_view bytes) {
  may_throw<tokenizer::TokenizerError>([&] {
    const auto model = tokenizer::Tokenizer::from_bytes(std::string(bytes));
    for (int32_t id = 0; id < model.vocabulary_size(); ++id) {
      model.token(id);
      model.score(id);
    }
    for (const auto text :
         {std::string_view(" the cat  sat "), std::string_view("\xff ä\t☃"), bytes.substr(0, 64)}) {
      model.decode(model.encode(text));
      model.tokens(text);
      if (model.merges()) tokenizer::BpeSampler(model).encode(text, [] { return false; });
    }
  });
}

}  // namespace ablate::fuzz
