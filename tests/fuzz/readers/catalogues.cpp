#include "data/corpus.h"
#include "experiments/corpora/text/catalogue.h"
#include "experiments/corpora/text/package_index.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// A catalogue of messages, a dictionary and Debian's indices.
void catalogues(std::string_view bytes) {
  may_throw<data::DataError>([&] { corpora::messages_in("messages.mo", bytes); });
  corpora::dictionary_entries(bytes);
  corpora::descriptions_in(bytes);
  corpora::packages_in(bytes);
}

}  // namespace ablate::fuzz
