#include "tokenizer/huggingface/tokenizer_json.h"

#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// A tokenizer.json, which is then used: on some texts and on its own first bytes.
void tokenizer_json(std::string_view bytes) {
  may_throw<tokenizer::TokenizerError>([&] {
    const tokenizer::huggingface::TokenizerJson model(bytes);
    for (const auto text :
         {std::string_view(" the cat  sat "), std::string_view("\xff ä\t☃"), bytes.substr(0, 64)}) {
      const auto ids = model.encode(text);
      for (const auto id : ids) require(id >= 0 && id < model.vocabulary_size());
      model.decode(model.framed(ids));
      model.decode(ids, true);
    }
  });
}

}  // namespace ablate::fuzz
