#include "experiments/cli/score_line.h"

#include <fmt/format.h>

#include <cmath>

namespace ablate::cli {

std::string score_line(const records::TestScores& scores) {
  auto text = scores.name + (scores.beyond ? " (beyond): " : ": ");
  if (scores.compared == data::Compared::text)
    text += fmt::format("BLEU {}, chrF {:.2f}, ",
                        std::isnan(scores.bleu) ? "-" : fmt::format("{:.2f}", scores.bleu),
                        scores.chrf);
  if (scores.compared != data::Compared::nothing)
    text += fmt::format("exact match {:.3f}, ", scores.exact_match);
  text += fmt::format("token accuracy {:.3f}, perplexity {:.3f}", scores.token_accuracy,
                      scores.perplexity);
  if (!std::isnan(scores.nats_per_character))
    text += fmt::format(", {:.4f} nats per character", scores.nats_per_character);
  return text + fmt::format(" ({} examples)", scores.examples);
}

}  // namespace ablate::cli
