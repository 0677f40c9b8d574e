#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/study/value.h"

namespace ablate::experiments {

/// The key that picks a variant's alternative: `kind`, unless the alternatives say otherwise.
template <class Option>
constexpr std::string_view discriminator_of() {
  if constexpr (requires { Option::discriminator; })
    return Option::discriminator;
  else
    return "kind";
}

/// Fills option structs from values by their `fields()` and reports every problem: keys that no
/// field has, values of the wrong type, and broken `rules()`.
class Reader {
 public:
  /// `all_paths` are the paths of the whole configuration, for hints at keys in the wrong place.
  Reader(Problems& problems, const std::vector<std::string>& all_paths)
      : problems_(problems), all_paths_(all_paths) {}

  template <class Options>
  void read(const Value& value, const std::string& path, Options& options) {
    if (!expect_map(value, path)) return;
    read_fields(value, path, options, {});
  }

  /// Where every value that a file gave stands: dotted path -> "file:line".
  const std::map<std::string, std::string>& origins() const { return origins_; }

 private:
  template <class Options>
  void read_fields(const Value& map, const std::string& path, Options& options,
                   std::vector<std::string> known) {
    Options::fields(options, [&](std::string_view name, auto& slot, std::string_view) {
      known.emplace_back(name);
      if (const auto* value = map.find(name))
        if (value->kind != Value::Kind::null) parse(*value, below(path, name), slot);
    });
    report_unknown(map, path, known);
    Options::rules(options, [&](bool holds, std::string_view key, const std::string& message) {
      if (!holds) problems_.add(place_of(map, key), fmt::format("{} {}", key, message));
    });
  }

  void parse(const Value& value, const std::string& path, bool& slot);
  void parse(const Value& value, const std::string& path, int64_t& slot);
  void parse(const Value& value, const std::string& path, double& slot);
  void parse(const Value& value, const std::string& path, std::string& slot);

  template <class Enum>
  requires std::is_enum_v<Enum>
  void parse(const Value& value, const std::string& path, Enum& slot) {
    if (!expect_scalar(value, path)) return;
    std::vector<std::string> known;
    for (const auto& [choice, name] : names(Enum{})) {
      if (name == value.scalar) {
        slot = choice;
        return note(value, path);
      }
      known.emplace_back(name);
    }
    report_choice(value, path, known);
  }
  template <class T>
  void parse(const Value& value, const std::string& path, std::optional<T>& slot) {
    T inner{};
    parse(value, path, inner);
    slot = inner;
  }
  template <class T>
  void parse(const Value& value, const std::string& path, std::vector<T>& slot) {
    if (!expect_list(value, path)) return;
    slot.assign(value.items.size(), T{});
    for (size_t i = 0; i < slot.size(); ++i) parse(value.items[i], path, slot[i]);
    note(value, path);
  }
  template <class T, size_t N>
  void parse(const Value& value, const std::string& path, std::array<T, N>& slot) {
    if (!expect_list(value, path)) return;
    if (value.items.size() != N)
      return problems_.add(value.place, fmt::format("{} needs {} values, not {}", last_word(path),
                                                    N, value.items.size()));
    for (size_t i = 0; i < N; ++i) parse(value.items[i], path, slot[i]);
    note(value, path);
  }
  template <class... Options>
  void parse(const Value& value, const std::string& path, std::variant<Options...>& slot) {
    if (!expect_map(value, path)) return;
    const auto key = discriminator_of<std::variant_alternative_t<0, std::variant<Options...>>>();
    if (const auto* chosen = value.find(key)) {
      if (!expect_scalar(*chosen, below(path, key))) return;
      const bool known = ((chosen->scalar == Options::name && (slot = Options{}, true)) || ...);
      if (!known) return report_choice(*chosen, below(path, key), {std::string(Options::name)...});
      note(*chosen, below(path, key));
    }
    std::visit([&](auto& options) { read_fields(value, path, options, {std::string(key)}); }, slot);
  }
  template <class Options>
  requires requires(Options& o) {
    Options::fields(o, [](auto&&...) {});
  }
  void parse(const Value& value, const std::string& path, Options& slot) {
    read(value, path, slot);
  }

  static std::string below(const std::string& path, std::string_view key);
  static std::string last_word(const std::string& path);
  bool expect_map(const Value& value, const std::string& path);
  bool expect_list(const Value& value, const std::string& path);
  bool expect_scalar(const Value& value, const std::string& path);
  void note(const Value& value, const std::string& path);
  void report_unknown(const Value& map, const std::string& path,
                      const std::vector<std::string>& known);
  void report_choice(const Value& value, const std::string& path,
                     const std::vector<std::string>& known);
  static Place place_of(const Value& map, std::string_view dotted);

  Problems& problems_;
  const std::vector<std::string>& all_paths_;
  std::map<std::string, std::string> origins_;
};

}  // namespace ablate::experiments
