#include "data/corpus.h"
#include "experiments/corpora/unpack.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// An archive: tar, zip, ar or a Debian package, or one packed file.
void archive(std::string_view bytes) {
  const auto any = [](std::string_view) { return true; };
  may_throw<data::DataError>([&] { corpora::files_in(bytes, any); });
  may_throw<data::DataError>([&] { corpora::files_in_package(bytes, any); });
  may_throw<data::DataError>([&] { corpora::unpacked(bytes); });
}

}  // namespace ablate::fuzz
