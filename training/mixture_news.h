#pragma once

#include <fmt/format.h>

#include <set>
#include <string>

#include "training/observation.h"

namespace ablate::training {

/// What is new about a mixture: its fault, if `faulty` does not name it yet, or that its fault has
/// passed; else empty. Keeps `faulty`.
inline std::string news_of(const MixtureRecord& mixture, std::set<std::string>& faulty) {
  auto fault = mixture.fault();
  if (!fault.empty()) return faulty.insert(mixture.name).second ? fault : "";
  if (faulty.erase(mixture.name) == 0) return "";
  return fmt::format("{}: healed, the largest load is {:.1f} times the mean", mixture.name,
                     mixture.highest());
}

}  // namespace ablate::training
