#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::tokenizer::huggingface {

/// What is not in the tokens of a word.
struct Hidden {
  struct Unknown {
    std::string text;     // what it stands for
    std::string written;  // the same as a token of the model, with its marks of parts and of ends
  };
  void add(std::string_view text) { unknown.push_back({std::string(text), std::string(text)}); }

  std::vector<Unknown> unknown;  // one after the other
  std::string left_out;          // what no token stands for, as there is no unknown one
};

}  // namespace ablate::tokenizer::huggingface
