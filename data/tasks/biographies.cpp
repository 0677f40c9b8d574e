#include "data/tasks/biographies.h"

#include <cmath>
#include <set>
#include <utility>

#include "data/random.h"

namespace ablate::data {
namespace {

struct Person {
  std::string name;
  std::vector<int64_t> values;  // of the attributes
};

/// "n0.17 n1.5 n2.301", a word for each place.
std::string drawn_name(Random& random, const std::vector<int64_t>& words) {
  std::string name;
  for (size_t place = 0; place < words.size(); ++place)
    name += (place > 0 ? " n" : "n") + std::to_string(place) + "." +
            std::to_string(random.below(words[place]));
  return name;
}

std::vector<Person> people_of(const Capo& task, uint64_t seed) {
  Random random(seed, "people");
  std::set<std::string> names;
  std::vector<Person> people;
  while (std::ssize(people) < task.people) {
    auto name = drawn_name(random, task.names);
    if (!names.insert(name).second) continue;
    Person person{.name = std::move(name), .values = {}};
    for (const int64_t count : task.values) person.values.push_back(random.below(count));
    people.push_back(std::move(person));
  }
  return people;
}

/// "t0.31 v0.1 t1.4 v1.11", a template and the value for each attribute.
Example biography(const Person& person, const Capo& task, Random& random) {
  std::string text;
  for (size_t i = 0; i < person.values.size(); ++i) {
    const auto attribute = std::to_string(i) + ".";
    text += (i > 0 ? " t" : "t") + attribute + std::to_string(random.below(task.templates)) + " v" +
            attribute + std::to_string(person.values[i]);
  }
  return {person.name, std::move(text)};
}

}  // namespace

Corpus biographies(const Capo& task, uint64_t seed) {
  const auto people = people_of(task, seed);
  const auto told = [&](const char* purpose, int64_t versions) {
    Random random(seed, purpose);
    std::vector<Example> all;
    for (int64_t version = 0; version < versions; ++version)
      for (const auto& person : people) all.push_back(biography(person, task, random));
    random.shuffle(all);
    return all;
  };
  double nats = 0;
  for (const int64_t count : task.values)
    nats += std::log(static_cast<double>(task.templates)) + std::log(static_cast<double>(count));
  Corpus corpus{.train = told("train", task.versions), .validation = told("validation", 1)};
  corpus.tests.push_back({.name = Capo::test_name,
                          .examples = told("test", 1),
                          .nats = static_cast<double>(task.people) * nats});
  return corpus;
}

}  // namespace ablate::data
