#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::tokenizer::huggingface {

/// Text of a word that cannot be read from its tokens.
struct Hidden {
  struct Unknown {
    std::string text;     // in the word
    std::string written;  // the same as a token of the model, with its marks of parts and of ends
  };
  void add(std::string_view text) { unknown.push_back({std::string(text), std::string(text)}); }

  std::vector<Unknown> unknown;  // one after the other
  std::string left_out;          // text without any token, if the model has no unknown one
};

}  // namespace ablate::tokenizer::huggingface
