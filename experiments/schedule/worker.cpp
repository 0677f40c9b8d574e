#include "experiments/schedule/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "experiments/errors.h"

namespace ablate::schedule {

std::vector<std::string> train_command(const records::RunFolder& folder, const Worker& worker) {
  std::vector<std::string> words{"/proc/self/exe", "train", folder.path.string(), "--threads",
                                 std::to_string(worker.threads)};
  if (worker.ranks > 1)
    words.insert(words.end(), {"--ranks", std::to_string(worker.ranks), "--rank-timeout",
                               std::to_string(worker.rank_timeout.count())});
  return words;
}

void check_ranks(const config::Experiment& experiment, int64_t ranks) {
  if (ranks == 1) return;
  if (!std::has_single_bit(static_cast<uint64_t>(ranks)))
    throw UsageError(fmt::format("--ranks {}: the number of ranks must be a power of two", ranks));
  if (const auto batches = experiment.training.accumulate; batches % ranks != 0)
    throw UsageError(fmt::format(
        "--ranks {} must divide training.accumulate, which is {}: ranks share the batches of an "
        "update; choose fewer ranks, or a study with more and smaller batches",
        ranks, batches));
  if (std::holds_alternative<training::TimeBudget>(experiment.training.budget))
    throw UsageError(fmt::format(
        "--ranks {}: a budget in seconds would mean something else on more processes", ranks));
  for (const auto side : {models::Side::encoder, models::Side::decoder})
    if (std::ranges::any_of(models::stack_of(experiment.model, side).layers, [](const auto& layer) {
          return layer.norm.kind == models::NormKind::batch;
        }))
      throw UsageError(fmt::format(
          "--ranks {}: batch norm keeps statistics of all examples, which ranks do not share",
          ranks));
}

}  // namespace ablate::schedule
