#include "data/token_file.h"

#include "data/corpus.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// A file of tokens, under a vocabulary of 1,000 ids.
void token_file(std::string_view bytes) {
  static const MemoryFile kFile;
  const auto& path = kFile.holding(bytes);
  for (const auto type : {std::optional<data::TokenType>(), std::optional(data::TokenType::uint32)})
    may_throw<data::DataError>([&] {
      const auto file = std::make_shared<const data::TokenFile>(path, type);
      file->sha256();
      const data::FileText text(file, std::vector<int32_t>(1000, 5));
      for (const auto id : text.read(0, text.size())) require(id == 5);
    });
}

}  // namespace ablate::fuzz
