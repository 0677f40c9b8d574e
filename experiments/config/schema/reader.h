#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/config/schema/schema.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Lays values over a tree, and reports every unknown key and every value of the wrong type. If
/// another kind of a variant is chosen, values given for the kind before are kept if the new kind
/// has a key of the same name and type; Tree::dropped lists the others.
class Reader {
 public:
  /// Values are of the section at `path` of the schema, which messages show.
  Reader(const Schema& whole, ProblemList& problems, std::string path = {})
      : whole_(whole), problems_(problems), path_(std::move(path)) {}

  /// `before` has the kinds of sections that the tree does not give.
  void lay(const Value& value, const options::ConstSlot& before, Tree& tree);

  /// Gives `options` the values of a tree; what it does not give stays as it is, except that a
  /// section of another kind has the defaults of that kind.
  void decode(const Value& tree, const options::Slot& options);

 private:
  struct Section {
    options::ConstSlot before;
    std::string path;
    std::vector<std::string> known;  // keys that are no fields
  };
  struct Member {
    const options::Type& type;
    const void* before;
    std::string path;
  };

  void lay_keys(const Value& value, const Section& section, Value& into);
  void lay_member(const Entry& entry, const Member& member, Value& section);
  void lay_layers(const Value& value, const Member& member, Value& into);
  void lay_variant(const Value& value, const Member& member, Value& into);
  /// Whether the kind has no default and was not given yet.
  bool lacks(const std::string& path_of_kind, const Entry* kind) const;
  /// Takes out the values given for the kind `before` that `after` has no key for.
  void change_kind(const std::string& path, const std::string& before, const std::string& after,
                   Value& section);

  /// Reports why the type cannot have the value, and else gives it to `slot`, if there is one.
  bool read_value(const Value& value, const std::string& path, const options::Type& type,
                  void* slot);
  bool read_list(const Value& value, const std::string& path, const options::Type& type,
                 void* slot);
  template <class T>
  bool assign(Parsed<T> parsed, const Value& value, const std::string& path, void* slot);
  bool is_mapping(const Value& value, const std::string& path);
  bool is_list(const Value& value, const std::string& path, size_t length);
  bool is_choice(const Value& value, const std::string& path, const options::Type& type);
  void fail(const Value& value, const std::string& path, const std::string& why);
  void report_unknown(const Entry& entry, const std::string& path,
                      const std::vector<std::string>& known, Value& into);
  std::string hint(const std::string& key, const std::string& path,
                   const std::vector<std::string>& known);

  const Schema& whole_;
  ProblemList& problems_;
  std::string path_;
  std::map<std::string, std::string> dropped_;
};

/// Reader::decode() of a tree whose problems are reported.
void decode(const Value& tree, const options::Slot& options);

/// Lays `value` over an empty tree and decodes that.
Tree read(const Value& value, const options::Slot& options, Reader reader);

/// Reports the paths without a default that were not given.
void report_missing(const Schema& schema, const Tree& tree, ProblemList& problems);

}  // namespace ablate::config
