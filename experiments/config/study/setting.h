#pragma once

#include <string>
#include <vector>

#include "experiments/config/study/arm.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// In what the arms of a study are compared with each other: a task in one of the study's sizes, at
/// one point of its grid.
struct Setting {
  std::string name;  // "copy", "copy-small", "copy-small-peak=0.004": of folders and in tables
  std::string task;  // as declared
  std::string size;  // empty: the study declares no sizes
  std::vector<GridPoint> grid;  // empty: it declares no grid, or one whose points are the arms
};

/// A setting and the options that it changes.
struct SetTask {
  Setting setting;
  Variation change;
};

/// What settings are made of. No sizes, or no points, count as one that changes nothing.
struct SettingAxes {
  std::vector<Variation> tasks, sizes, points;
};

/// Every task in every size at every point, in this order; later layers override earlier ones.
/// Reports names that are not valid or that two settings have.
std::vector<SetTask> settings_of(const SettingAxes& axes, ProblemList& problems);

/// The names of the settings that declare the same task, in their order.
std::vector<std::string> settings_in(const std::vector<Setting>& settings, const std::string& task);

std::vector<std::string> names_of(const std::vector<Setting>& settings);

/// The tasks of settings, as declared, each once.
std::vector<std::string> tasks_of(const std::vector<Setting>& settings);

/// The settings and the arms that a study can compare.
struct StudyNames {
  std::vector<Setting> settings;
  std::vector<std::string> arms;
};

/// Whether an overlay gives the key at the dotted path, or a value to a section of the path.
bool gives(const Value& layer, const std::string& path);
/// Whether one of its layers does.
bool gives(const Variation& variation, const std::string& path);

}  // namespace ablate::config
