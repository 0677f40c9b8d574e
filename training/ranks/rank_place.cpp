#include "training/ranks/rank_place.h"

#include <cstdlib>

namespace ablate::training {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int64_t numeric_variable(const char* name) {
  try {
    return std::stoll(variable(name));
  } catch (const std::logic_error&) {
    throw std::invalid_argument(std::string(name) + "='" + variable(name) + "' is no number");
  }
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
  place.file = variable(kRankFile);
  place.attempt = variable("TORCHELASTIC_RESTART_COUNT") + variable("SLURM_RESTART_COUNT");
  if (!place.file.empty()) return place;
  place.host = variable("MASTER_ADDR");
  if (place.host.empty())
    throw std::invalid_argument("MASTER_ADDR, the host of rank 0, is missing in the environment");
  place.port = static_cast<uint16_t>(numeric_variable("MASTER_PORT"));
  place.served = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return place;
}

}  // namespace ablate::training
