#include "data/labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "data/text_file.h"

namespace ablate::data {

Labels::Labels(std::span<const Example> examples) {
  std::set<std::string> names;
  for (const auto& example : examples) names.insert(example.target);
  for (const auto& name : names) add(name);
}

Labels Labels::from_text(std::string_view text) {
  Labels labels;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto name = text.substr(0, end);
    if (name.ends_with('\r')) name.remove_suffix(1);
    labels.add(std::string(name));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return labels;
}

void Labels::add(std::string name) {
  if (name.empty()) throw DataError("a class has no name");
  if (!numbers_.emplace(name, static_cast<int32_t>(names_.size())).second)
    throw DataError(fmt::format("the class '{}' is named twice", name));
  names_.push_back(std::move(name));
}

std::string Labels::to_text() const { return fmt::format("{}\n", fmt::join(names_, "\n")); }

int32_t Labels::number(std::string_view name) const {
  constexpr size_t kMostNames = 10;
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  const std::span all(names_);
  throw DataError(fmt::format("'{}' is none of the {} classes {}{}", name, names_.size(),
                              fmt::join(all.first(std::min(kMostNames, all.size())), ", "),
                              all.size() > kMostNames ? ", ..." : ""));
}

}  // namespace ablate::data
