#include "experiments/config/schema/tree.h"

#include "experiments/config/schema/option.h"

namespace ablate::config {

namespace {

/// The entry at `path`, also one without a value.
const Entry* found_at(const Value& root, std::string_view path) {
  const auto dot = path.find('.');
  const auto* found = root.find(path.substr(0, dot));
  if (found == nullptr || dot == path.npos) return found;
  return found_at(found->value, path.substr(dot + 1));
}

}  // namespace

const Entry* Tree::find(std::string_view path) const {
  const auto* found = found_at(root, path);
  return found != nullptr && found->value.mark.source ? found : nullptr;
}

bool Tree::readable(std::string_view path) const {
  const auto* found = found_at(root, path);
  return found == nullptr || !found->value.failed;
}

std::vector<std::string> Tree::failed() const {
  std::vector<std::string> paths;
  const auto collect = [&](const auto& self, const Value& value, const std::string& path) -> void {
    if (value.failed) paths.push_back(path);
    for (const auto& entry : value.entries) self(self, entry.value, join_path(path, entry.key));
  };
  collect(collect, root, "");
  return paths;
}

Mark Tree::place(std::string_view path) const {
  const auto* found = find(path);
  if (found != nullptr) return found->mark;
  const auto dot = path.rfind('.');
  return dot == path.npos ? root.mark : place(path.substr(0, dot));
}

}  // namespace ablate::config
