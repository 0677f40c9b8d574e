#include "experiments/analysis/pooled_claims.h"

#include <set>
#include <vector>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::analysis {
namespace {

bool counts(const Contrast& contrast) {
  return contrast.claim.kind && contrast.outside.empty() &&
         contrast.outcome != Outcome::not_learned;
}

/// The p of the test by which the claim was decided; 1 if it was not. That an arm is no worse is
/// also decided by a difference that shows it to be better.
double deciding_p(const Contrast& contrast) {
  const bool of_margin = config::needs_margin(*contrast.claim.kind);
  const bool by_margin = of_margin && contrast.verdict != Verdict::better;
  if (contrast.outcome == Outcome::agrees)
    return (by_margin ? contrast.within : contrast.difference).adjusted_p;
  if (contrast.outcome == Outcome::other_sign) return contrast.difference.adjusted_p;
  if (contrast.outcome == Outcome::beyond_margin) return contrast.beyond.adjusted_p;
  return 1;
}

}  // namespace

std::vector<PooledClaim> claims_of(std::span<const Evidence> studies) {
  std::vector<PooledClaim> claims;
  for (const auto& study : studies)
    for (const auto& one : compared_in(study.tasks)) {
      const auto& contrast = one.contrast();
      if (!one.cell.primary || one.arm.control || !counts(contrast)) continue;
      claims.push_back({.study = study.study,
                        .setting = one.task.name,
                        .arm = one.arm.name,
                        .test_set = one.cell.test_set,
                        .claim = *contrast.claim.kind,
                        .outcome = contrast.outcome,
                        .p = deciding_p(contrast)});
    }
  std::vector<double> p;
  for (const auto& claim : claims) p.push_back(claim.p);
  const auto q = statistics::false_discovery_rates(p);
  for (size_t i = 0; i < claims.size(); ++i) claims[i].q = q[i];
  return claims;
}

std::optional<FalseAlarms> false_alarms_of(std::span<const Evidence> studies) {
  FalseAlarms found;
  std::set<std::vector<double>> known;  // studies of one baseline may have the same control
  for (const auto& study : studies)
    for (const auto& one : compared_in(study.tasks)) {
      const auto verdict = one.contrast().verdict;
      if (!one.cell.primary || !one.arm.control || !is_tested(verdict)) continue;
      if (!known.insert(one.cell.sample.values).second) continue;
      ++found.controls;
      if (verdict == Verdict::better || verdict == Verdict::worse) ++found.alarms;
    }
  if (found.controls == 0) return {};
  found.interval = statistics::exact_interval(found.alarms, found.controls);
  return found;
}

}  // namespace ablate::analysis
