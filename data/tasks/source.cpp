#include "data/tasks/source.h"

#include "data/tasks/digit_tasks.h"
#include "data/tasks/symbol_tasks.h"

namespace ablate::data {

Source source_of(const DataOptions& options) {
  return std::visit(
      []<class Task>(const Task& task) -> Source {
        if constexpr (std::is_same_v<Task, Text> || std::is_same_v<Task, Language> ||
                      std::is_same_v<Task, Labelled> || std::is_same_v<Task, Facts>)
          throw DataError(std::string(Task::name) + " is not drawn from a distribution");
        else
          return source_of(task);
      },
      options);
}

}  // namespace ablate::data
