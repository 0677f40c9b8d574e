#include <cmath>

#include "tests/fuzz/fuzz.h"
#include "training/metrics/bleu.h"
#include "training/metrics/chrf.h"
#include "training/metrics/rouge.h"

namespace ablate::fuzz {
namespace {

void require_share(double score, double most) { require(score >= 0 && score <= most * 1.000001); }

}  // namespace

/// An output, an end of line and its reference. Scores stay in their ranges.
void metrics(std::string_view bytes) {
  const auto halves = divided(bytes, '\n');
  const std::vector<std::string> output{halves.first}, reference{halves.second};
  training::tokenize_13a(bytes);
  for (const bool lowercase : {false, true}) {
    require_share(training::bleu(output, reference, {.lowercase = lowercase}).score, 100);
    require_share(
        training::chrf(output, reference, {.lowercase = lowercase, .word_order = 2}).score, 100);
  }
  const auto rouge = training::rouge(output, reference);
  for (const double score : {rouge.one, rouge.two, rouge.longest}) require_share(score, 1);
  const double errors = training::word_error_rate(output, reference);
  require(std::isnan(errors) || errors >= 0);
}

}  // namespace ablate::fuzz
