#include "data/corpus.h"
#include "data/table_file.h"
#include "tests/fuzz/fuzz.h"
#include "tokenizer/text/unicode.h"

namespace ablate::fuzz {

/// CSV, TSV and JSON Lines. A row without a fault has both texts, in UTF-8.
void table(std::string_view bytes) {
  static const MemoryFile kFile;
  const auto& path = kFile.holding(bytes);
  for (const auto& [format, name] : names(data::TableFormat{}))
    may_throw<data::DataError>([&, form = format] {
      data::TableReader reader(path, form, {"a", "/b/c"}, 100);
      while (const auto row = reader.next()) {
        if (!row->fault.empty()) continue;
        require(row->texts.size() == 2);
        for (const auto& text : row->texts) require(tokenizer::valid_utf8(text));
      }
    });
}

}  // namespace ablate::fuzz
