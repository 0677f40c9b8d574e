#include "experiments/table/names.h"

namespace ablate::experiments {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::equivalent:
      return "equivalent";
    case Verdict::indistinguishable:
      return "indistinguishable";
    case Verdict::undecided:
      return "undecided";
    case Verdict::too_few_seeds:
      return "too_few_seeds";
    case Verdict::not_learned:
      return "not_learned";
    case Verdict::uneven:
      return "uneven";
    case Verdict::not_tested:
      return "not_tested";
    case Verdict::exploratory:
      return "exploratory";
  }
  return "";
}

const char* name_of(Direction direction) {
  return direction == Direction::higher ? "higher" : "lower";
}

}  // namespace ablate::experiments
