#include "tokenizer/piece_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <type_traits>
#include <utility>

#include "tokenizer/special_tokens.h"
#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr size_t kMostPieces = size_t{1} << 20U;
constexpr size_t kLongestPiece = 4096;

[[noreturn]] void refuse(const std::string& reason) {
  throw TokenizerError("not a usable tokenizer model: " + reason);
}

/// Gives `value` the field if it has this tag and is written as such a value.
template <class Value>
bool take(pbf_reader& field, uint32_t tag, Value& value) {
  constexpr auto kWire = std::is_same_v<Value, std::string> ? pbf_wire_type::length_delimited
                         : std::is_same_v<Value, float>     ? pbf_wire_type::fixed32
                                                            : pbf_wire_type::varint;
  if (field.tag_and_type() != tag_and_type(tag, kWire)) return false;
  if constexpr (std::is_same_v<Value, std::string>)
    value = field.get_string();
  else if constexpr (std::is_same_v<Value, float>)
    value = field.get_float();
  else if constexpr (std::is_same_v<Value, bool>)
    value = field.get_uint64() != 0;
  else
    value = field.get_enum();
  return true;
}

void check_piece(const PieceModel::Piece& piece, size_t index) {
  const auto where = "piece " + std::to_string(index);
  const auto& text = piece.text;
  if (!std::isfinite(piece.score)) refuse(where + " has a score that is not finite");
  if (text.empty()) refuse(where + " is empty");
  if (text.size() > kLongestPiece)
    refuse(where + " has " + std::to_string(text.size()) + " bytes; the limit is 4096");
  if (!valid_utf8(text) || text.find('\0') != std::string::npos)
    refuse(where + " is not valid UTF-8 text");
}

PieceModel::Piece read_piece(pbf_reader fields) {
  PieceModel::Piece piece;
  int32_t type = 0;
  while (fields.next())
    if (take(fields, kPieceType, type)) {
      if (type >= 1 && type <= 6) piece.type = static_cast<PieceType>(type);
    } else if (!take(fields, kPieceText, piece.text) && !take(fields, kPieceScore, piece.score)) {
      fields.skip();
    }
  return piece;
}

void read_trainer(pbf_reader fields, PieceModel& model) {
  constexpr uint32_t kSpaceAsSuffix = 24, kBosName = 46, kEosName = 47, kPadName = 48;
  int32_t kind = 0;
  while (fields.next())
    if (take(fields, kModelType, kind)) {
      if (kind < 1 || kind > 4) refuse("it has an unknown kind");
      model.kind = static_cast<ModelType>(kind);
    } else if (!take(fields, kByteFallback, model.byte_fallback) &&
               !take(fields, kSpaceAsSuffix, model.spaces_behind) &&
               !take(fields, kBosName, model.bos) && !take(fields, kEosName, model.eos) &&
               !take(fields, kPadName, model.pad)) {
      fields.skip();
    }
}

/// The double-array trie of a normalisation table, which the library walks without bounds. A state
/// leads on by a byte to the unit at their exclusive or, if that has the byte as its label.
class TableTrie {
 public:
  /// REQUIRES: the size of `units` is a multiple of that of a unit and not 0.
  explicit TableTrie(std::string_view units)
      : units_(units.size() / sizeof(uint32_t)),
        first_(units_.size() | 0xffU, kNone),
        next_(units_.size(), kNone) {
    first_.push_back(kNone);
    std::memcpy(units_.data(), units.data(), units.size());
    for (size_t place = 0; place < units_.size(); ++place) {
      if (is_value(units_[place])) continue;
      auto& first = first_[place ^ (units_[place] & 0xffU)];
      next_[place] = std::exchange(first, static_cast<uint32_t>(place));
    }
  }

  /// Whether a walk on any text stays within the units and finds only values below `end`.
  bool stays_within(size_t end) const {
    std::vector<bool> known(units_.size());
    std::vector<size_t> open{offset(units_.front())};
    while (!open.empty()) {
      const auto state = open.back();
      open.pop_back();
      if ((state | 0xffU) >= units_.size()) return false;
      if (known[state]) continue;
      known[state] = true;
      for (auto place = first_[state]; place != kNone; place = next_[place]) {
        const auto next = place ^ offset(units_[place]);
        open.push_back(next);
        if (has_leaf(units_[place]) && (next >= units_.size() || value(units_[next]) >= end))
          return false;
      }
    }
    return true;
  }

 private:
  static constexpr auto kNone = std::numeric_limits<uint32_t>::max();

  static bool is_value(uint32_t unit) { return (unit & (1U << 31U)) != 0; }
  static bool has_leaf(uint32_t unit) { return (unit >> 8U & 1U) != 0; }
  static size_t value(uint32_t unit) { return unit & ~(1U << 31U); }
  static size_t offset(uint32_t unit) { return size_t{unit >> 10U} << ((unit & (1U << 9U)) >> 6U); }

  std::vector<uint32_t> units_;
  std::vector<uint32_t> first_, next_;  // the units that a state leads to
};

/// A table: the bytes of its trie, the trie, and the replacements, each of which ends with a NUL.
bool is_sound(std::string_view table) {
  uint32_t size = 0;
  if (table.size() < sizeof size) return table.empty();
  std::memcpy(&size, table.data(), sizeof size);
  const auto rest = table.substr(sizeof size);
  if (size == 0 || size % sizeof size != 0 || size >= rest.size() || rest.back() != '\0')
    return false;
  return TableTrie(rest.substr(0, size)).stays_within(rest.size() - size);
}

void read_normalizer(pbf_reader fields, PieceModel& model) {
  constexpr uint32_t kCharsMap = 2;
  while (fields.next())
    if (take(fields, kCharsMap, model.table)) {
      if (!is_sound(model.table)) refuse("its normalisation table is damaged");
    } else if (!take(fields, kAddDummyPrefix, model.dummy_prefix) &&
               !take(fields, kRemoveExtraWhitespaces, model.tidy) &&
               !take(fields, kEscapeWhitespaces, model.escaped)) {
      fields.skip();
    }
}

void read_section(pbf_reader& section, PieceModel& model) {
  switch (section.tag_and_type()) {
    case tag_and_type(kPieces, pbf_wire_type::length_delimited):
      if (model.pieces.size() >= kMostPieces) refuse("it has more than 1048576 pieces");
      model.pieces.push_back(read_piece(section.get_message()));
      return check_piece(model.pieces.back(), model.pieces.size() - 1);
    case tag_and_type(kTrainer, pbf_wire_type::length_delimited):
      return read_trainer(section.get_message(), model);
    case tag_and_type(kNormalizer, pbf_wire_type::length_delimited):
      return read_normalizer(section.get_message(), model);
    case tag_and_type(kDenormalizer, pbf_wire_type::length_delimited): {
      const auto message = section.get_view();
      model.denormalizes = model.denormalizes || !message.empty();
      PieceModel unused;
      return read_normalizer(pbf_reader(message), unused);
    }
    default:
      section.skip();
  }
}

}  // namespace

PieceModel read_piece_model(std::string_view bytes) {
  if (bytes.empty()) refuse("the file is empty");
  if (bytes.size() > kLargestModel) refuse("it is larger than 128 MiB");
  PieceModel model{
      .bos = std::string(kBosPiece), .eos = std::string(kEosPiece), .pad = std::string(kPadPiece)};
  try {
    for (pbf_reader sections(bytes.data(), bytes.size()); sections.next();)
      read_section(sections, model);
  } catch (const protozero::exception&) {
    refuse("the file is cut off or no SentencePiece model");
  }
  const auto unknown =
      std::ranges::count(model.pieces, PieceType::unknown, &PieceModel::Piece::type);
  if (unknown != 1)
    refuse("it has " + std::to_string(unknown) + " pieces for unknown text instead of one");
  return model;
}

SpecialIds special_ids(const PieceModel& model) {
  SpecialIds found;
  for (int32_t id = 0; id < std::ssize(model.pieces); ++id) {
    const auto& [text, score, type] = model.pieces[static_cast<size_t>(id)];
    if (type == PieceType::unknown) found.unk = id;
    if (type != PieceType::control) continue;
    if (text == model.bos) found.bos = id;
    if (text == model.eos) found.eos = id;
    if (text == model.pad) found.pad = id;
    if (text == kMaskToken) found.mask = id;
  }
  return found;
}

}  // namespace ablate::tokenizer
