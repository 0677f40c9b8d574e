#include "experiments/corpora/text/pages.h"

#include "data/corpus.h"
#include "experiments/corpora/text/man_page.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// Two pages, divided by a form feed, in troff, HTML and Mallard's XML.
void pages(std::string_view bytes) {
  static const auto kGerman = corpora::german();
  const auto halves = divided(bytes, '\f');
  const auto &page = halves.first, &translation = halves.second;
  corpora::CleanPairs clean(kGerman);
  clean.add(corpora::man_pairs("man", page, translation, kGerman));
  may_throw<data::DataError>([&] { clean.add(corpora::help_pairs("help", page, translation)); });
  may_throw<data::DataError>([&] { clean.add(corpora::mallard_pairs("help", page, translation)); });
}

}  // namespace ablate::fuzz
