#include "tokenizer/huggingface/tokenizer_json.h"
#include "tokenizer/text/unicode.h"
#include "tokenizer/tokenizer_model.h"

namespace ablate::tokenizer {
namespace {

class JsonModel : public TokenizerModel {
 public:
  JsonModel(std::string_view file, const std::vector<int32_t>& hidden) : tokenizer_(file, hidden) {}

  int64_t size() const override { return tokenizer_.vocabulary_size(); }
  std::vector<int32_t> encode(std::string_view line) const override {
    return tokenizer_.encode(line);
  }
  std::string decode(const std::vector<int32_t>& ids) const override {
    return tokenizer_.decode(ids);
  }
  std::string normalized(std::string_view line) const override {
    return marked(tokenizer_.decode(tokenizer_.tokens(line)));
  }
  std::vector<std::string> tokens(std::string_view line) const override {
    std::vector<std::string> found;
    for (const auto& one : tokenizer_.tokens(line))
      if (one.id >= 0) found.push_back(marked(tokenizer_.spelling(one)));
    return found;
  }
  std::string left_out(std::string_view line) const override {
    std::string text;
    if (tokenizer_.unknown_id()) return text;
    for (const auto& one : tokenizer_.tokens(line))
      if (one.id < 0) text += tokenizer_.bytes(one.hidden->text);
    return text;
  }
  std::string token(int32_t id) const override { return marked(tokenizer_.spelling({id})); }

 private:
  /// Spaces as SentencePiece writes them.
  static std::string marked(std::string text) {
    replace_all(text, " ", "\u2581");
    return text;
  }

  huggingface::TokenizerJson tokenizer_;
};

}  // namespace

std::unique_ptr<TokenizerModel> read_tokenizer_json(std::string_view file,
                                                    const std::vector<int32_t>& hidden) {
  return std::make_unique<JsonModel>(file, hidden);
}

}  // namespace ablate::tokenizer
