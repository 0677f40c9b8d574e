#include "experiments/config/study_schema.h"

#include "experiments/config/describe.h"
#include "experiments/config/study_file.h"

namespace ablate::config {

Schema study_schema() {
  const StudyFile file;
  Schema schema = describe(file);
  schema.required = {"name", "seeds"};
  for (auto& key : schema.children) {
    if (key.name != "base") continue;
    auto description = key.description;
    key = experiment_schema();
    key.name = "base";
    key.description = std::move(description);
    key.required.clear();
  }
  return schema;
}

}  // namespace ablate::config
