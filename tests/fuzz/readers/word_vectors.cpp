#include "data/word_vectors.h"

#include "data/corpus.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// A file of word vectors in any of the three formats. Those found are as wide as they should be.
void word_vectors(std::string_view bytes) {
  static const MemoryFile kFile;
  may_throw<data::DataError>([&] {
    for (const auto& [word, vector] : data::read_word_vectors(kFile.holding(bytes), {"a", "b"}, 2))
      require(vector.size() == 2);
  });
}

}  // namespace ablate::fuzz
