#include "experiments/cli/set_flag.h"

#include "experiments/cli/shell_completion.h"

namespace ablate::cli {

void add_set_flag(CLI::App& verb, std::vector<std::string>& sets) {
  verb.add_option("--set", sets, "key.path=value, below base; the flag again for each key")
      ->type_name(kKeyAndValue)
      ->take_all()
      ->allow_extra_args(false);
}

}  // namespace ablate::cli
