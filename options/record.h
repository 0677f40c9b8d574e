#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "options/bounds.h"

// What reading, printing, checking and describing options know of them: option structs as data. A
// struct lists its members once, in
//   static void fields(auto& o, auto&& visit) { visit("key", o.member, "description", bounds); }
// with optional bounds, and what must hold besides in
//   static void rules(const T& o, auto&& require) { require(holds, "key", "must be ..."); }
// An alternative of a variant also has its `name`, the kind, and `about`, one sentence with its
// paper, and words of an enum may have theirs in abouts(Enum).

namespace ablate::options {

struct Record;

/// The type of a member. Its functions take a pointer to the member.
struct Type {
  enum class Kind {
    boolean,
    integer,
    number,
    text,
    choice,
    optional,
    list,
    variant,
    record,
    other
  };

  Kind kind = Kind::other;
  const std::type_info* cpp = nullptr;
  std::vector<std::string_view> words;   // of a choice; the kinds of a variant
  std::vector<std::string_view> abouts;  // a sentence on each word; empty: none
  const Type* element = nullptr;         // of an optional or a list
  size_t length = 0;                     // of a list; 0: any
  std::vector<const Record*> records;    // of a record; the alternatives of a variant
  std::string_view discriminator;        // of a variant: the key that names its alternative
  const void* fresh = nullptr;           // a value of this type

  /// Which of the words it holds, and the same to be set; a variant gets a new alternative.
  size_t (*index)(const void*) = nullptr;
  void (*select)(void*, size_t) = nullptr;
  /// How many elements an optional (at most one) or a list has, and the same to be set.
  size_t (*size)(const void*) = nullptr;
  void (*resize)(void*, size_t) = nullptr;
  /// An element of an optional or a list, or (at 0) the alternative that a variant holds.
  void* (*at)(void*, size_t) = nullptr;

  template <class T>
  bool is() const {
    return *cpp == typeid(T);
  }
};

/// A member of an option struct.
struct Field {
  std::string_view name, description;
  const Type* type;
  size_t offset;  // in bytes
  Bounds bounds;  // of a number, or of the numbers in an optional or a list
};

/// Hears of a rule whether it holds, the key that it is of, and what must be.
using Require = std::function<void(bool holds, std::string_view key, std::string_view why)>;

/// An option struct.
struct Record {
  std::string_view name, about;  // of an alternative of a variant
  std::vector<Field> fields;
  void (*rules)(const void*, const Require&) = nullptr;
  const void* fresh = nullptr;  // one with the defaults

  const Field* find(std::string_view key) const;
};

/// An option struct in memory.
struct ConstSlot {
  const Record* record;
  const void* options;

  const void* at(const Field& field) const {
    return static_cast<const char*>(options) + field.offset;
  }
};
struct Slot {
  const Record* record;
  void* options;

  void* at(const Field& field) const { return static_cast<char*>(options) + field.offset; }
  operator ConstSlot() const { return {record, options}; }
};

/// The alternative that a variant holds.
Slot held(const Type& variant, void* slot);
ConstSlot held(const Type& variant, const void* slot);

/// The struct at a key of `options`, or the alternative that a variant there holds.
/// REQUIRES: there is one.
ConstSlot section(const ConstSlot& options, std::string_view key);

/// An element of an optional or a list.
inline const void* element_of(const Type& type, const void* slot, size_t i) {
  return type.at(const_cast<void*>(slot), i);
}

/// Tells `require` of the bounds and then of the rules of one struct, without the structs in it.
void check(const ConstSlot& options, const Require& require);

/// Whether two members of this type, or two structs of this record, have the same values.
bool equal(const Type& type, const void* left, const void* right);
bool equal(const Record& record, const void* left, const void* right);

template <class T>
const Type& type_of();
template <class T>
const Record& record_of();

template <class T>
Slot slot_of(T& options) {
  return {&record_of<T>(), &options};
}
template <class T>
ConstSlot slot_of(const T& options) {
  return {&record_of<T>(), &options};
}

/// Whether walkers must know this type themselves, such as a part of a file that is kept as it is.
template <class T>
inline constexpr bool is_opaque = false;

template <class T>
concept OptionStruct = requires(T& o) {
  T::fields(o, [](auto&&...) {});
};

namespace detail {

/// Whether it has a static `name`, unlike a member of this name.
template <class T>
concept Named = requires {
  { *&T::name } -> std::convertible_to<std::string_view>;
};

template <class T>
void describe_choice(Type& type) {
  type.kind = Type::Kind::choice;
  for (const auto& [value, word] : names(T{})) type.words.push_back(word);
  if constexpr (requires { abouts(T{}); }) {
    static_assert(abouts(T{}).size() == names(T{}).size());
    for (const auto about : abouts(T{})) type.abouts.push_back(about);
  }
  type.index = [](const void* slot) {
    size_t i = 0;
    for (const auto& [value, word] : names(T{})) {
      if (value == *static_cast<const T*>(slot)) return i;
      ++i;
    }
    return i;
  };
  type.select = [](void* slot, size_t i) { *static_cast<T*>(slot) = names(T{})[i].first; };
}

template <class T>
void describe_member(Type& type, const std::optional<T>*) {
  using Optional = std::optional<T>;
  type.kind = Type::Kind::optional;
  type.element = &type_of<T>();
  type.size = [](const void* slot) -> size_t {
    return static_cast<const Optional*>(slot)->has_value();
  };
  type.resize = [](void* slot, size_t size) {
    auto& optional = *static_cast<Optional*>(slot);
    size == 0 ? optional.reset() : void(optional.emplace());
  };
  type.at = [](void* slot, size_t) -> void* { return &**static_cast<Optional*>(slot); };
}

template <class T>
void describe_member(Type& type, const std::vector<T>*) {
  using List = std::vector<T>;
  type.kind = Type::Kind::list;
  type.element = &type_of<T>();
  type.size = [](const void* slot) { return static_cast<const List*>(slot)->size(); };
  type.resize = [](void* slot, size_t size) { static_cast<List*>(slot)->assign(size, T{}); };
  type.at = [](void* slot, size_t i) -> void* { return &(*static_cast<List*>(slot))[i]; };
}

template <class T, size_t N>
void describe_member(Type& type, const std::array<T, N>*) {
  type.kind = Type::Kind::list;
  type.element = &type_of<T>();
  type.length = N;
  type.size = [](const void*) { return N; };
  type.at = [](void* slot, size_t i) -> void* {
    return &(*static_cast<std::array<T, N>*>(slot))[i];
  };
}

/// Whether no two are the same, as they would be if a struct had the sentence of its base.
consteval bool distinct(auto... texts) {
  std::array<std::string_view, sizeof...(texts)> sorted{texts...};
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end();
}

template <class First, class... Rest>
void describe_member(Type& type, const std::variant<First, Rest...>*) {
  using Variant = std::variant<First, Rest...>;
  static_assert(distinct(First::about, Rest::about...), "every kind has a sentence of its own");
  type.kind = Type::Kind::variant;
  type.words = {First::name, Rest::name...};
  type.abouts = {First::about, Rest::about...};
  type.records = {&record_of<First>(), &record_of<Rest>()...};
  type.discriminator = "kind";
  if constexpr (requires { First::discriminator; }) type.discriminator = First::discriminator;
  type.index = [](const void* slot) { return static_cast<const Variant*>(slot)->index(); };
  type.select = [](void* slot, size_t i) {
    auto& variant = *static_cast<Variant*>(slot);
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((i == I ? void(variant.template emplace<I>()) : void()), ...);
    }
    (std::index_sequence_for<First, Rest...>{});
  };
  type.at = [](void* slot, size_t) -> void* {
    return std::visit([](auto& options) -> void* { return &options; },
                      *static_cast<Variant*>(slot));
  };
}

template <class T>
Type describe() {
  static const T kFresh{};
  Type type{.cpp = &typeid(T), .fresh = &kFresh};
  if constexpr (std::is_same_v<T, bool>)
    type.kind = Type::Kind::boolean;
  else if constexpr (std::is_same_v<T, int64_t>)
    type.kind = Type::Kind::integer;
  else if constexpr (std::is_same_v<T, double>)
    type.kind = Type::Kind::number;
  else if constexpr (std::is_same_v<T, std::string>)
    type.kind = Type::Kind::text;
  else if constexpr (std::is_enum_v<T>)
    describe_choice<T>(type);
  else if constexpr (OptionStruct<T>) {
    type.kind = Type::Kind::record;
    type.records = {&record_of<T>()};
  } else if constexpr (!is_opaque<T>)
    describe_member(type, static_cast<const T*>(nullptr));
  return type;
}

}  // namespace detail

/// The descriptor of a type, which exists once.
template <class T>
const Type& type_of() {
  static const Type kType = detail::describe<T>();
  return kType;
}

/// The descriptor of an option struct, which exists once. T{} must have the defaults.
template <class T>
const Record& record_of() {
  static const T kFresh{};
  static const Record kRecord = [] {
    Record record{.name = {}, .fields = {}, .fresh = &kFresh};
    if constexpr (detail::Named<T>) {
      record.name = T::name;
      record.about = T::about;
    }
    T::fields(kFresh, [&]<class Member>(std::string_view name, const Member& member,
                                        std::string_view description, Bounds bounds = {}) {
      const auto offset =
          reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&kFresh);
      record.fields.push_back(
          {name, description, &type_of<Member>(), static_cast<size_t>(offset), bounds});
    });
    if constexpr (requires { T::rules(kFresh, std::declval<const Require&>()); })
      record.rules = [](const void* options, const Require& require) {
        T::rules(*static_cast<const T*>(options), require);
      };
    return record;
  }();
  return kRecord;
}

}  // namespace ablate::options
