#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/config/schema/tree.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/setting.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// The place of a word in the file, and its kind for messages.
struct WordPlace {
  const char* what;  // "arm"
  const char* key;
  Mark mark;
};

/// Reports a word that is not one of `known`; returns whether it is.
bool require_known(const std::string& word, const std::vector<std::string>& known,
                   const WordPlace& place, ProblemList& problems);

/// A claim, and the section at `path` that gives it: "compare" or "compare.arms.gelu".
struct GivenClaim {
  const ArmClaim& claim;
  std::string path;
  const Tree& section;
};

/// Reports a claim that breaks its rules, or that does not fit the metrics of the comparison: a
/// margin that no difference can exceed, a published difference of the other sign, or a margin in a
/// study with a task of another metric.
void check_claim(const GivenClaim& given, const Comparison& comparison, ProblemList& problems);

/// Reads and checks the claims of single arms. A key that an arm leaves out has the value for all
/// arms; a claim of its own has neither their statement nor their published difference.
void read_claims_of_arms(const CompareOptions& options, const StudyNames& names,
                         Comparison& comparison, ProblemList& problems);

}  // namespace ablate::config
