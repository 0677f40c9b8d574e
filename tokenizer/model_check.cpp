#include "tokenizer/model_check.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <string>
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

std::string_view bytes_of(pbf_reader& field) {
  const auto view = field.get_view();
  return {view.data(), view.size()};
}

/// Whether it is the piece for unknown text.
bool check_piece(std::string_view message, size_t index) {
  const auto where = "piece " + std::to_string(index);
  std::string_view text;
  auto type = PieceType::normal;
  for (pbf_reader fields(message.data(), message.size()); fields.next();) {
    switch (fields.tag_and_type()) {
      case tag_and_type(kPieceText, pbf_wire_type::length_delimited):
        text = bytes_of(fields);
        break;
      case tag_and_type(kPieceType, pbf_wire_type::varint):
        type = static_cast<PieceType>(fields.get_enum());
        break;
      case tag_and_type(kPieceScore, pbf_wire_type::fixed32):
        if (!std::isfinite(fields.get_float())) refuse(where + " has a score that is not finite");
        break;
      default:
        fields.skip();
    }
  }
  if (text.empty()) refuse(where + " is empty");
  if (text.size() > kLongestPiece)
    refuse(where + " has " + std::to_string(text.size()) + " bytes; the limit is 4096");
  if (!valid_utf8(text) || text.find('\0') != std::string_view::npos)
    refuse(where + " is not valid UTF-8 text");
  return type == PieceType::unknown;
}

std::string_view piece_text(std::string_view piece) {
  std::string_view text;
  for (pbf_reader fields(piece.data(), piece.size());
       fields.next(kPieceText, pbf_wire_type::length_delimited);)
    text = bytes_of(fields);
  return text;
}

void check_trainer(std::string_view message) {
  pbf_reader fields(message.data(), message.size());
  while (fields.next(kModelType, pbf_wire_type::varint))
    if (const auto kind = fields.get_enum(); kind < 1 || kind > 4) refuse("it has an unknown kind");
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

void check_normalizer(std::string_view message) {
  pbf_reader fields(message.data(), message.size());
  while (fields.next(kCharsMap, pbf_wire_type::length_delimited))
    if (!is_sound(bytes_of(fields))) refuse("its normalisation table is damaged");
}

/// Throws protozero::exception if the message is malformed.
void check_sections(std::string_view model) {
  size_t pieces = 0, unknown = 0;
  for (pbf_reader sections(model.data(), model.size()); sections.next();) {
    switch (sections.tag_and_type()) {
      case tag_and_type(kPieces, pbf_wire_type::length_delimited):
        if (pieces >= kMostPieces) refuse("it has more than 1048576 pieces");
        unknown += check_piece(bytes_of(sections), pieces++) ? 1 : 0;
        break;
      case tag_and_type(kTrainer, pbf_wire_type::length_delimited):
        check_trainer(bytes_of(sections));
        break;
      case tag_and_type(kNormalizer, pbf_wire_type::length_delimited):
      case tag_and_type(kDenormalizer, pbf_wire_type::length_delimited):
        check_normalizer(bytes_of(sections));
        break;
      default:
        sections.skip();
    }
  }
  if (unknown != 1)
    refuse("it has " + std::to_string(unknown) + " pieces for unknown text instead of one");
}

}  // namespace

void check_model(std::string_view model) {
  if (model.empty()) refuse("the file is empty");
  if (model.size() > kLargestModel) refuse("it is larger than 128 MiB");
  try {
    check_sections(model);
  } catch (const protozero::exception&) {
    refuse("the file is cut off or no SentencePiece model");
  }
}

SpecialIds special_ids(std::string_view model) {
  std::string bos(kBosPiece), eos(kEosPiece), pad(kPadPiece);
  for (pbf_reader sections(model.data(), model.size());
       sections.next(kTrainer, pbf_wire_type::length_delimited);) {
    const auto trainer = bytes_of(sections);
    for (pbf_reader fields(trainer.data(), trainer.size()); fields.next();) {
      auto* const name = fields.tag() == kBosName   ? &bos
                         : fields.tag() == kEosName ? &eos
                         : fields.tag() == kPadName ? &pad
                                                    : nullptr;
      if (name != nullptr && fields.wire_type() == pbf_wire_type::length_delimited)
        *name = bytes_of(fields);
      else
        fields.skip();
    }
  }
  SpecialIds found;
  const auto types = piece_types(model);
  const auto texts = piece_texts(model);
  for (int32_t id = 0; id < std::ssize(texts); ++id) {
    const auto type = types[static_cast<size_t>(id)];
    const auto& text = texts[static_cast<size_t>(id)];
    if (type == PieceType::unknown) found.unk = id;
    if (type != PieceType::control) continue;
    if (text == bos) found.bos = id;
    if (text == eos) found.eos = id;
    if (text == pad) found.pad = id;
    if (text == kMaskToken) found.mask = id;
  }
  return found;
}

std::vector<std::string> piece_texts(std::string_view model) {
  std::vector<std::string> texts;
  for (pbf_reader sections(model.data(), model.size());
       sections.next(kPieces, pbf_wire_type::length_delimited);)
    texts.emplace_back(piece_text(bytes_of(sections)));
  return texts;
}

std::vector<PieceType> piece_types(std::string_view model) {
  std::vector<PieceType> types;
  for (pbf_reader sections(model.data(), model.size());
       sections.next(kPieces, pbf_wire_type::length_delimited);) {
    const auto piece = bytes_of(sections);
    types.push_back(PieceType::normal);
    for (pbf_reader fields(piece.data(), piece.size());
         fields.next(kPieceType, pbf_wire_type::varint);)
      if (const auto type = fields.get_enum(); type >= 1 && type <= 6)
        types.back() = static_cast<PieceType>(type);
  }
  return types;
}

ModelType model_type(std::string_view model) {
  auto type = ModelType::unigram;  // the default of the format
  for (pbf_reader sections(model.data(), model.size());
       sections.next(kTrainer, pbf_wire_type::length_delimited);) {
    const auto trainer = bytes_of(sections);
    for (pbf_reader fields(trainer.data(), trainer.size());
         fields.next(kModelType, pbf_wire_type::varint);)
      type = static_cast<ModelType>(fields.get_enum());
  }
  return type;
}

}  // namespace ablate::tokenizer
