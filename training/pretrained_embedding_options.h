#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ablate::training {

/// Files of pretrained word vectors that embeddings start from.
struct PretrainedEmbeddingOptions {
  std::optional<std::string> source, target;
  bool frozen = false;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("source", o.source, "file in word2vec's or GloVe's format, for the source embedding");
    visit("target", o.target, "the same for the target embedding");
    visit("frozen", o.frozen, "never train an embedding that starts from a file");
  }
  template <class Require>
  static void rules(const PretrainedEmbeddingOptions& o, Require&& require) {
    require(!o.frozen || o.source || o.target, "frozen", "needs source or target");
  }
};

}  // namespace ablate::training
