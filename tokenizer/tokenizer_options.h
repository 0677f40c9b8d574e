#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::tokenizer {

ABLATE_ENUM(Kind, bpe, unigram, character, word, byte);
constexpr auto abouts(Kind) {
  return std::to_array<std::string_view>(
      {"pieces by merging the most frequent pairs (Sennrich et al. 2016, arXiv 1508.07909)",
       "the pieces of a unigram language model (Kudo 2018, arXiv 1804.10959)", "characters",
       "words between spaces", "the bytes of UTF-8"});
}

ABLATE_ENUM(Normalization, nmt_nfkc, nmt_nfkc_cf, nfkc, identity);

/// tidy: runs of spaces become one and a word at the start looks like any other; exact: every space
/// is kept and none is added.
ABLATE_ENUM(Spaces, tidy, exact);

/// How text becomes tokens. The model is learned by SentencePiece from the training text only; the
/// byte model (ByT5, Xue et al. 2022) is always the same. BPE-dropout is that of Provilkov et al.
/// 2020.
struct TokenizerOptions {
  std::optional<std::string> file;
  Kind kind = Kind::bpe;
  std::optional<int64_t> vocabulary;
  bool joint = true;
  double coverage = 1.0;
  Normalization normalization = Normalization::nmt_nfkc;
  Spaces spaces = Spaces::tidy;
  double dropout = 0.0;
  bool mask = false;

  static void fields(auto& o, auto&& visit) {
    visit("file", o.file,
          "a model that `ablate tokenizer train` or another program wrote, for both sides; absent: "
          "one is learned from the training text");
    visit("kind", o.kind, "what a token is");
    visit("vocabulary", o.vocabulary,
          "number of tokens, including four special ones; absent: 8000 for bpe and unigram, all "
          "for the others",
          options::from(8, 1'048'576));
    visit("joint", o.joint, "one model for source and target");
    visit("coverage", o.coverage, "share of the training characters that get a token",
          options::from(0.98, 1));
    visit("normalization", o.normalization, "SentencePiece's normalisation rule");
    visit("dropout", o.dropout,
          "share of bpe's merges that are left out of the training text, anew in every epoch; a "
          "merge that is left out at one place does not come back there (SentencePiece)",
          options::from_below(0, 1));
    visit("mask", o.mask, "one more special token, which masked language models need");
    visit("spaces", o.spaces, "tidy: collapsed, as in SentencePiece; exact: every space is kept");
  }
  static void rules(const TokenizerOptions& o, auto&& require) {
    const TokenizerOptions learned;
    require(!o.file || (o.kind == learned.kind && !o.vocabulary && o.joint &&
                        o.coverage == learned.coverage &&
                        o.normalization == learned.normalization && o.spaces == learned.spaces),
            "file", "brings all of its tokenizer; give no key that says how to learn one");
    require(o.dropout == 0 || o.kind == Kind::bpe, "dropout",
            "must be 0 unless kind is bpe: it leaves out merges of bpe");
    const bool bytes = o.kind == Kind::byte;
    require(
        !bytes || !o.vocabulary, "vocabulary",
        "must be absent if kind is byte: the vocabulary is the 256 bytes and the special tokens");
    require(!bytes || o.coverage == 1, "coverage",
            "must be 1 if kind is byte: bytes cover all text");
    require(!bytes || o.normalization == Normalization::nmt_nfkc ||
                o.normalization == Normalization::identity,
            "normalization", "has no effect if kind is byte: bytes are not normalised");
  }
};

}  // namespace ablate::tokenizer
