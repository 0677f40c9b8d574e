#include "data/corpus.h"
#include "data/text_file.h"
#include "tests/fuzz/fuzz.h"
#include "tokenizer/text/unicode.h"

namespace ablate::fuzz {

/// A text file, plain or gzip. A line without a fault is text within the limit.
void text_lines(std::string_view bytes) {
  constexpr int64_t kMost = 40;
  static const MemoryFile kFile;
  may_throw<data::DataError>([&] {
    for (const auto& line : data::read_lines(kFile.holding(bytes), kMost))
      require(!line.fault.empty() ||
              (line.text.size() <= kMost && tokenizer::valid_utf8(line.text) &&
               line.text.find('\n') == std::string::npos));
  });
}

}  // namespace ablate::fuzz
