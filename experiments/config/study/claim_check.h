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

/// Reports a word that is not one of `known`.
void require_known(const std::string& word, const std::vector<std::string>& known,
                   const WordPlace& place, ProblemList& problems);

/// The claim of all arms that have none of their own; `section` is `compare`.
ArmClaim check_claim(const CompareOptions& options, const Tree& section, ProblemList& problems);

/// The claims of single arms; what one does not give is that of all arms, but a claim of
/// its own has neither their statement nor their published difference.
std::map<std::string, ArmClaim> claims_of_arms(const CompareOptions& options,
                                               const StudyNames& names, ProblemList& problems);

/// Reports margins that no difference of the metric can exceed, published differences of the other
/// sign than the claimed one, and margins in a study with a task of another metric.
void check_claims(const CompareOptions& options, const Tree& tree, const Comparison& comparison,
                  ProblemList& problems);

}  // namespace ablate::config
