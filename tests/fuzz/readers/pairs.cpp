#include "data/read_corpus.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// Parallel, labelled and running text, plain or gzip; a form feed divides two files.
void pairs(std::string_view bytes) {
  static const MemoryFile kWhole, kFirst, kSecond;
  const auto halves = divided(bytes, '\f');
  const auto whole = kWhole.holding(bytes), first = kFirst.holding(halves.first),
             second = kSecond.holding(halves.second);
  for (const auto bad_lines : {data::BadLine::error, data::BadLine::skip}) {
    const data::Text options{.bad_lines = bad_lines, .max_line_bytes = 100};
    int64_t skipped = 0;
    may_throw<data::DataError>([&] { data::read_pairs(options, {whole}, skipped); });
    may_throw<data::DataError>([&] { data::read_pairs(options, {first, second}, skipped); });
    may_throw<data::DataError>([&] {
      data::read_labelled(
          {.train = whole, .validation = whole, .test = whole, .bad_lines = bad_lines}, "");
    });
  }
  may_throw<data::DataError>([&] { data::read_language({.train = whole, .test = first}, ""); });
}

}  // namespace ablate::fuzz
