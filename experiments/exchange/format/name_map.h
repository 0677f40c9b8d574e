#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/options/transformer_options.h"
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

/// A field of config.json that has the value of one or more keys of ours.
struct ForeignField {
  std::vector<std::string> keys;       // below model; the first of them is written
  std::optional<std::string> usual{};  // a word or JSON for an absent field; none: required
  Words words{};       // true or false there -> our word; empty: both have the same values
  bool size = true;    // the integer is the size of a tensor
  bool again = false;  // another field has these keys, and this one may say the same once more
  bool write = true;
};

/// Fields by their names.
using ForeignFields = std::map<std::string, ForeignField>;

/// How a family calls fields of older files that rope_parameters now holds.
struct RotaryNames {
  std::string base = "rope_theta";
  std::string share;         // empty: all channels are turned
  double usual_share = 1.0;  // if no field says it

  static void fields(auto& o, auto&& visit) {
    visit("base", o.base, "the field with the base of the angles");
    visit("share", o.share, "the field with the share of each head's channels that is turned");
    visit("usual_share", o.usual_share, "the share if no field says it");
  }
};

/// How a family reads the fields of a window.
struct UsualWindow {
  std::optional<int64_t> width;
  bool used = true;

  static void fields(auto& o, auto&& visit) {
    visit("width", o.width, "sliding_window of a file without it; absent: no window");
    visit("used", o.used, "every layer has the window; if not, use_sliding_window says so");
  }
};

/// A family of models as a table that is read in both directions.
struct FamilyMap {
  std::string like;          // the family whose table this one is laid over
  std::string architecture;  // written to config.json; empty: the family is only read
  std::string prefix;  // of the tensors of a model with a head; one without a head has them without
  models::TransformerOptions model;  // of the family; defaults where it fixes none
  Origins tensors;
  Words unused;  // foreign tensors that say nothing new -> what each must be (unused_tensors.h)
  ForeignFields fields;
  Words fixed;    // fields of config.json -> the only value that Ablate reads, a word or JSON
  Words written;  // the same of fields that every written file has
  std::vector<std::string> without_effect;  // fields that change nothing that such a model computes
  bool starts_from_zeros = false;  // the decoder's first input is a vector of zeros: marian_form.h
  TokenizerWords tokenizer;
  RotaryNames rotary;
  UsualWindow window;
  Words dropouts;  // keys of ours below model -> the field of config.json with the same rate
};

/// Reads the members, `tensors` as read_origins(), and lays them over those of `base`; a field that
/// is fixed has no key. Throws ConfigError.
FamilyMap read_family_map(const std::string& name, const std::string& yaml, FamilyMap base = {});

/// The map with a line for every layer, {i} counting from 0, instead of one for all.
Origins expanded(const Origins& origins, int64_t layers);
Words expanded(const Words& words, int64_t layers);

/// The map for a model whose output is an embedding, or is not.
Origins with_tying(Origins origins, bool tied);

}  // namespace ablate::exchange
