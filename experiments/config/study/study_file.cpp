#include "experiments/config/study/study_file.h"

#include "experiments/config/schema/describe.h"
#include "experiments/config/schema/metric.h"

namespace ablate::config {
namespace {

Schema made_schema() {
  const StudyFile file;
  Schema schema = describe(options::slot_of(file));
  schema.required = {"name", "seeds"};
  for (auto& key : schema.children) {
    if (key.name == "compare")
      for (auto& word : key.children)
        if (word.name == "metric") {
          word.type = Schema::Type::choice;
          word.choices = names_of_comparable_metrics();
        }
    if (key.name != "base") continue;
    auto description = key.description;
    key = experiment_schema();
    key.name = "base";
    key.description = std::move(description);
    key.required.clear();
  }
  return schema;
}

}  // namespace

const Schema& study_schema() {
  static const Schema kSchema = made_schema();
  return kSchema;
}

}  // namespace ablate::config
