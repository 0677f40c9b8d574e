#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "options/enumeration.h"

namespace ablate::exchange {

/// The foreign tensors that make one of ours, one after the other in its rows.
struct Origin {
  std::vector<std::string> names;        // at least one
  std::vector<std::string> alternative;  // if the file does not have the first of `names`
  std::string untied;  // in place of `names`, if the output is no embedding; empty: the same
  bool transpose = false;
  bool by_head = false;     // query, key and value of each head stand beside each other
  bool vocabulary = false;  // it has a row for every token
  bool unsqueeze = false;   // it has a dimension more, of size 1, in front
  bool always = false;      // a file has it: one number a token, 0 if ours is absent
  int64_t skip = 0;         // rows at its beginning that are left out
};

/// Own name of a tensor -> its foreign tensors. {i} in both stands for the number of a layer.
using Origins = std::map<std::string, Origin>;

/// Reads a map of names in YAML: own name -> foreign name, a list of foreign names, or a mapping
/// with `name` and the other members of Origin. Throws ConfigError with every problem: unknown
/// keys, names without a tensor, values other than true and false.
Origins read_origins(const std::filesystem::path& file);

/// Names -> words of a family's own.
using Words = std::map<std::string, std::string>;

/// A special token beside a text.
ABLATE_ENUM(FrameToken, start, end);
/// The files of a tokenizer: tokenizer.json beside the SentencePiece model, or Marian's source.spm,
/// target.spm and vocab.json.
ABLATE_ENUM(TokenizerFiles, json, marian);

/// How a family's files hold the tokenizer, as AutoTokenizer reads them.
struct TokenizerWords {
  std::string start = "bos_token", end = "eos_token";   // as tokenizer_config.json says them
  std::vector<FrameToken> frame = {FrameToken::start};  // stand around a text
  std::string model = "tokenizer.model";                // the SentencePiece model's file
  TokenizerFiles files = TokenizerFiles::json;

  static void fields(auto& o, auto&& visit) {
    visit("start", o.start, "the start token's name in tokenizer_config.json");
    visit("end", o.end, "the end token's name in tokenizer_config.json");
    visit("frame", o.frame, "the tokens around a text");
    visit("model", o.model, "the file of the SentencePiece model");
    visit("files", o.files, "which files there are");
  }
};

/// The tensors and fields of a family of models.
struct FamilyMap {
  std::string prefix;  // of the tensors of a model with a head; one without a head has them without
  Origins tensors;
  Words unused;  // foreign tensors that say nothing new -> what each must be (unused_tensors.h)
  Words fixed;   // fields of config.json -> the only value that Ablate reads, a word or JSON
  std::vector<std::string> without_effect;  // fields that change nothing that such a model computes
  bool starts_from_zeros = false;  // the decoder's first input is a vector of zeros: marian_form.h
  TokenizerWords tokenizer;
  Words dropouts;  // keys of ours below model -> the field of config.json with the same rate

  /// True if every file of the family has a bias of the output.
  bool always_has_bias() const {
    const auto bias = tensors.find("output_bias");
    return bias != tensors.end() && bias->second.always;
  }
};

/// Reads the members, `tensors` as read_origins(). Throws ConfigError.
FamilyMap read_family_map(const std::string& name, const std::string& yaml);

/// The map with a line for every layer, {i} counting from 0, instead of one for all.
Origins expanded(const Origins& origins, int64_t layers);
Words expanded(const Words& words, int64_t layers);

/// The map for a model whose output is an embedding, or is not.
Origins with_tying(Origins origins, bool tied);

}  // namespace ablate::exchange
