#include "training/ranks/rank_place.h"

#include <charconv>
#include <cstdlib>
#include <limits>

namespace ablate::training {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A number from 0 to `most`, written only in digits.
int64_t numeric_variable(const char* name, int64_t most = std::numeric_limits<int32_t>::max()) {
  const auto text = variable(name);
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0 && number <= most)
    return number;
  throw std::invalid_argument(std::string(name) + "='" + text + "' is no number from 0 to " +
                              std::to_string(most));
}

}  // namespace

std::optional<RankPlace> place_of_this_process(int64_t size) {
  const bool torchrun = !variable("WORLD_SIZE").empty();
  const bool srun =
      !torchrun && !variable("SLURM_PROCID").empty() && numeric_variable("SLURM_NTASKS") > 1;
  if (!torchrun && !srun) return {};
  RankPlace place{.rank = numeric_variable(torchrun ? "RANK" : "SLURM_PROCID"),
                  .size = numeric_variable(torchrun ? "WORLD_SIZE" : "SLURM_NTASKS")};
  if (place.size != size)
    throw std::invalid_argument("this process is one of " + std::to_string(place.size) +
                                ", and not of " + std::to_string(size) + " as --ranks says");
  if (place.rank >= place.size)
    throw std::invalid_argument("this process has rank " + std::to_string(place.rank) +
                                ", and the ranks of " + std::to_string(place.size) + " are 0 to " +
                                std::to_string(place.size - 1));
  place.file = variable(kRankFile);
  place.attempt = variable("TORCHELASTIC_RESTART_COUNT") + variable("SLURM_RESTART_COUNT");
  if (!place.file.empty()) return place;
  place.host = variable("MASTER_ADDR");
  if (place.host.empty())
    throw std::invalid_argument("MASTER_ADDR, the host of rank 0, is missing in the environment");
  place.port =
      static_cast<uint16_t>(numeric_variable("MASTER_PORT", std::numeric_limits<uint16_t>::max()));
  place.served = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return place;
}

}  // namespace ablate::training
