#include "data/tasks/facts.h"

#include "data/random.h"
#include "data/tasks/symbol_tasks.h"

namespace ablate::data {

Corpus fact_table(const Facts& task, uint64_t seed) {
  Random random(seed, "facts");
  int64_t facts = 1;
  for (int64_t i = 0; i < task.key; ++i) facts *= task.symbols;
  std::vector<Example> all;
  for (int64_t fact = 0; fact < facts; ++fact) {
    std::vector<int64_t> key;
    for (int64_t i = 0, rest = fact; i < task.key; ++i, rest /= task.symbols)
      key.push_back(rest % task.symbols);
    all.push_back({join(key), symbol(random.below(task.symbols))});
  }
  Corpus corpus{.train = all, .validation = all};
  corpus.tests.push_back({Facts::test_name, false, std::move(all)});
  return corpus;
}

}  // namespace ablate::data
