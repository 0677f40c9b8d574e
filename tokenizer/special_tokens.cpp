#include "tokenizer/special_tokens.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "tokenizer/piece_model.h"

namespace ablate::tokenizer {
namespace {

using protozero::pbf_reader;

constexpr std::string_view kNoCharacter = "\U0010ffff";

/// Copies a field of any type. REQUIRES: `fields` has one to read.
void copy(pbf_reader& fields, protozero::pbf_writer& to) {
  const auto tag = fields.tag();  // which reading the value ends
  switch (fields.wire_type()) {
    case protozero::pbf_wire_type::varint:
      return to.add_uint64(tag, fields.get_uint64());
    case protozero::pbf_wire_type::fixed32:
      return to.add_fixed32(tag, fields.get_fixed32());
    case protozero::pbf_wire_type::fixed64:
      return to.add_fixed64(tag, fields.get_fixed64());
    default:
      return to.add_bytes(tag, fields.get_view());
  }
}

/// The message with `rename` applied to its texts of that tag, or of all tags if it is 0.
template <class Rename>
std::string renamed(protozero::data_view message, uint32_t tag, const Rename& rename) {
  std::string bytes;
  protozero::pbf_writer to(bytes);
  for (pbf_reader fields(message); fields.next();) {
    const auto field = fields.tag();
    const bool text = fields.wire_type() == protozero::pbf_wire_type::length_delimited;
    if (text && (tag == 0 || field == tag))
      to.add_bytes(field, rename(std::string(fields.get_view())));
    else
      copy(fields, to);
  }
  return bytes;
}

std::string own_name(const std::string& name) {
  return name.starts_with(kNoCharacter) ? name.substr(kNoCharacter.size()) : name;
}

}  // namespace

std::string training_name(std::string_view special) {
  return std::string(kNoCharacter) + std::string(special);
}

std::string with_own_names(std::string_view model) {
  std::string bytes;
  protozero::pbf_writer to(bytes);
  for (pbf_reader sections(model.data(), model.size()); sections.next();) {
    if (sections.tag() == kPieces)
      to.add_bytes(kPieces, renamed(sections.get_view(), kPieceText, own_name));
    else if (sections.tag() == kTrainer)
      to.add_bytes(kTrainer, renamed(sections.get_view(), 0, own_name));
    else
      copy(sections, to);
  }
  return bytes;
}

std::string with_unspellable_names(std::string_view bytes, const PieceModel& model) {
  std::string changed;
  protozero::pbf_writer to(changed);
  size_t id = 0;
  for (pbf_reader sections(bytes.data(), bytes.size()); sections.next();) {
    const bool piece = sections.tag_and_type() ==
                       protozero::tag_and_type(kPieces, protozero::pbf_wire_type::length_delimited);
    const auto type = piece ? model.pieces[id++].type : PieceType::normal;
    if (type == PieceType::control || type == PieceType::unknown)
      to.add_bytes(kPieces, renamed(sections.get_view(), kPieceText,
                                    [](const std::string& name) { return '\xff' + name; }));
    else
      copy(sections, to);
  }
  return changed;
}

}  // namespace ablate::tokenizer
