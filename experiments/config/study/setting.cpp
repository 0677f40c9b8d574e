#include "experiments/config/study/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace ablate::config {
namespace {

constexpr size_t kMostSettings = 1000;

void append(const Variation& more, SetTask& made) {
  auto& [setting, change] = made;
  if (!more.name.empty()) setting.name += "-" + more.name;
  change.layers.insert(change.layers.end(), more.layers.begin(), more.layers.end());
  if (more.mark.source) change.mark = more.mark;
}

SetTask made_of(const Variation& task, const Variation& size, const Variation& point) {
  SetTask made{{task.name, task.name, size.name, point.grid}, task};
  append(size, made);
  append(point, made);
  made.change.name = made.setting.name;
  return made;
}

/// Reports two settings of one name, and a setting with the name of another task, which options of
/// the command line could not tell apart.
void check_names(const std::vector<SetTask>& all, ProblemList& problems) {
  std::set<std::string> taken, tasks;
  for (const auto& one : all) tasks.insert(one.setting.task);
  for (const auto& [setting, change] : all) {
    if (setting.name == setting.task) {
      taken.insert(setting.name);
      continue;
    }
    check_name(setting.name, "setting", change.mark, problems);
    if (!taken.insert(setting.name).second || tasks.contains(setting.name))
      problems.add(
          change.mark,
          fmt::format("tasks, sizes and grid name two settings {}; rename a task or a size",
                      in_quotes(setting.name)));
  }
}

}  // namespace

std::vector<SetTask> settings_of(const SettingAxes& axes, ProblemList& problems) {
  const std::vector<Variation> none(1);
  const auto& sizes = axes.sizes.empty() ? none : axes.sizes;
  const auto& points = axes.points.empty() ? none : axes.points;
  std::vector<SetTask> all;
  if (axes.tasks.size() * sizes.size() * points.size() > kMostSettings &&
      axes.sizes.size() + axes.points.size() > 0) {
    problems.add(axes.sizes.empty() ? points.front().mark : sizes.front().mark,
                 fmt::format("tasks, sizes and grid make more than {} settings", kMostSettings));
    return all;
  }
  for (const auto& task : axes.tasks)
    for (const auto& size : sizes)
      for (const auto& point : points) all.push_back(made_of(task, size, point));
  check_names(all, problems);
  return all;
}

std::vector<std::string> settings_in(const std::vector<Setting>& settings,
                                     const std::string& task) {
  std::vector<std::string> names;
  for (const auto& setting : settings)
    if (setting.task == task) names.push_back(setting.name);
  return names;
}

bool gives(const Value& layer, const std::string& path) {
  const auto dot = path.find('.');
  const auto* entry = layer.find(std::string_view(path).substr(0, dot));
  if (entry == nullptr) return false;
  if (dot == std::string::npos || entry->value.type != Value::Type::mapping) return true;
  return gives(entry->value, path.substr(dot + 1));
}

bool gives(const Variation& variation, const std::string& path) {
  return std::ranges::any_of(variation.layers,
                             [&](const Value& layer) { return gives(layer, path); });
}

std::vector<std::string> names_of(const std::vector<Setting>& settings) {
  std::vector<std::string> names;
  for (const auto& setting : settings) names.push_back(setting.name);
  return names;
}

std::vector<std::string> tasks_of(const std::vector<Setting>& settings) {
  std::vector<std::string> names;
  for (const auto& setting : settings)
    if (std::ranges::find(names, setting.task) == names.end()) names.push_back(setting.task);
  return names;
}

}  // namespace ablate::config
