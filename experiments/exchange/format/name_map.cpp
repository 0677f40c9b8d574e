#include "experiments/exchange/format/name_map.h"

#include <fmt/format.h>

#include "experiments/config/describe.h"
#include "experiments/config/document.h"
#include "experiments/config/reader.h"

namespace ablate::exchange {
namespace {

using config::Value;

/// The keys of an entry that is more than a name.
struct OriginOptions {
  Value name;
  bool transpose = false;

  static void fields(auto& o, auto&& visit) {
    visit("name", o.name, "of one tensor, or of several in a list");
    visit("transpose", o.transpose, "whether it is to be transposed");
  }
};

class OriginReader {
 public:
  explicit OriginReader(config::ProblemList& problems) : problems_(problems) {}

  Origin read(const Value& value) {
    if (value.type != Value::Type::mapping) return {names_of(value), false};
    config::Trail trail{.start = value.mark};
    OriginOptions options{.name = {.mark = value.mark}};
    config::Reader(schema_, problems_, trail).lay_over(value, options);
    if (value.find("name") == nullptr)
      problems_.add(value.mark, "needs 'name', of one tensor or of several in a list");
    else
      return {names_of(options.name), options.transpose};
    return {};
  }

 private:
  std::vector<std::string> names_of(const Value& value) {
    const auto items = value.type == Value::Type::list ? value.items : std::vector<Value>{value};
    if (items.empty()) problems_.add(value.mark, "must name at least one tensor");
    std::vector<std::string> names;
    for (const auto& item : items)
      if (item.type == Value::Type::scalar && !item.scalar.empty())
        names.push_back(item.scalar);
      else
        problems_.add(item.mark, "must be the name of a tensor");
    return names;
  }

  config::ProblemList& problems_;
  const config::Schema schema_ = config::describe(OriginOptions{});
};

}  // namespace

Origins read_origins(const std::filesystem::path& file) {
  config::ProblemList problems;
  const auto document = config::parse_mapping(config::read_source(file), problems);
  Origins origins;
  OriginReader reader(problems);
  for (const auto& entry : document.entries) origins[entry.key] = reader.read(entry.value);
  problems.raise();
  return origins;
}

}  // namespace ablate::exchange
