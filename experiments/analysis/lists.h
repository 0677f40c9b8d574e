#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace ablate::analysis {

/// The one of `all` with this name; null if none has it.
template <class Named>
const Named* find_named(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  return found == all.end() ? nullptr : &*found;
}

/// The items with each key, `key_of` an item, in the order in which keys first occur.
template <class Items, class KeyOf>
auto grouped(const Items& items, const KeyOf& key_of) {
  using Item = std::ranges::range_value_t<Items>;
  using Key = std::decay_t<std::invoke_result_t<const KeyOf&, const Item&>>;
  std::vector<std::pair<Key, std::vector<Item>>> groups;
  for (const auto& item : items) {
    const Key key = std::invoke(key_of, item);
    auto group = std::ranges::find(groups, key, &std::pair<Key, std::vector<Item>>::first);
    if (group == groups.end()) group = groups.insert(group, {key, {}});
    group->second.push_back(item);
  }
  return groups;
}

/// "a, b, c": `words` of each item, with `last` before the last one.
template <class Items, class Words = std::identity>
std::string listed(const Items& items, const Words& words = {}, const char* last = ", ") {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 < items.size() ? ", " : last;
    text += std::invoke(words, items[i]);
  }
  return text;
}

/// "a, b and c": `words` of each item.
template <class Items, class Words = std::identity>
std::string enumerated(const Items& items, const Words& words = {}) {
  return listed(items, words, " and ");
}

}  // namespace ablate::analysis
