#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/schema/layer_path.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// A value that was given and is ignored, because a later layer chose another kind for its section,
/// and that kind has no such key.
struct Dropped {
  std::string path;
  std::string kind;  // "training.schedule.kind is linear"
};

/// Where the values of an experiment were given. The place of a section is the last key that named
/// it.
struct Trail {
  std::map<std::string, Mark> marks;   // dotted path -> place
  std::map<std::string, Value> given;  // dotted path of a value that is no section -> as given
  std::set<std::string> failed;        // paths whose value could not be read
  std::vector<Dropped> dropped;
  Mark start;  // the place of paths that were not given
  /// The overlays of model.encoder and model.decoder, in their order, and model.changes;
  /// lay_changes() applies them to the layers.
  std::vector<std::pair<models::Side, Value>> side_changes;
  Value changes;

  /// The place of `path`, or else of the nearest section around it.
  Mark place(const std::string& path) const;
  /// The path that decides the value: `path`, or the model's if no change selects the layer of
  /// `path`.
  std::string deciding(const std::string& path) const;
};

/// A section: its path in a trail, and its path in messages and in the schema.
struct Section {
  std::string path, shown;
};

/// Overlays option structs with values, and reports every unknown key and every value of the wrong
/// type. Options that are not given keep their values. If another kind of a variant is chosen,
/// values given for the kind before are kept if the new kind has a key of the same name and type;
/// its other options have their defaults, and Trail::dropped lists the values that it has no key
/// for.
class Reader {
 public:
  /// Values are of `section`; by default they are of the whole configuration.
  Reader(const Schema& schema, ProblemList& problems, Trail& trail, Section section = {})
      : schema_(schema), problems_(problems), trail_(trail), section_(std::move(section)) {}

  void lay_over(const Value& value, const options::Slot& options);

 private:
  void read_keys(const Value& value, const std::string& path, const options::Slot& options,
                 std::vector<std::string> known);
  void read_member(const Value& value, const std::string& path, const options::Type& type,
                   void* slot);
  void read_variant(const Value& value, const std::string& path, const options::Type& type,
                    void* slot);
  void read_value(const Value& value, const std::string& path, const options::Type& type,
                  void* slot);
  void read_list(const Value& value, const std::string& path, const options::Type& type,
                 void* slot);
  /// A bare word is the kind: `rotary` is {kind: rotary}.
  Value with_kind(const Value& value, const std::string& path, std::string_view discriminator);
  template <class T>
  void assign(Parsed<T> parsed, const Value& value, const std::string& path, void* slot);

  std::string shown(const std::string& path) const {
    return section_.shown + path.substr(section_.path.size());
  }
  bool is_mapping(const Value& value, const std::string& path);
  bool is_list(const Value& value, const std::string& path, int length);
  bool is_choice(const Value& value, const std::string& path, const std::vector<std::string>& all);
  /// Reports `path_of_kind` if it has no default and was not given yet.
  bool lacks(const std::string& path_of_kind);
  /// Records that `path` has `value`.
  void keep(const std::string& path, const Value& value);
  /// The values given below the section at `path` for its kind `before` that `after` can take, too.
  /// Removes all of them from the trail, and records those that `after` has no key for.
  Value carried_over(const std::string& path, const std::string& path_of_kind,
                     const std::string& before, const std::string& after);
  void fail(const Value& value, const std::string& path, const std::string& why);
  void report_unknown(const Entry& entry, const std::string& path,
                      const std::vector<std::string>& known);
  std::string hint(const std::string& key, const std::string& path,
                   const std::vector<std::string>& known);

  const Schema& schema_;
  ProblemList& problems_;
  Trail& trail_;
  Section section_;
};

/// Reports the paths without a default that were not given.
void report_missing(const Schema& schema, const Trail& trail, ProblemList& problems);

}  // namespace ablate::config
