#include "tokenizer/model_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <protozero/pbf_reader.hpp>
#include <string>

#include "tokenizer/special_tokens.h"
#include "tokenizer/text/digest.h"
#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr size_t kMostPieces = size_t{1} << 20U;
constexpr size_t kLongestPiece = 4096;

// The library walks a table of a double-array trie without bounds, so only the tables that it
// brings itself are accepted: nmt_nfkc, nmt_nfkc_cf and nfkc of SentencePiece 0.2.1.
constexpr std::array<std::string_view, 3> kKnownTables = {
    "79372c41389c2b9b29bc171017ab5400e352debd686b02670a42bec709015074",
    "22c292c76f503795f30c85d79d30a7f572fff4f49e00392d2d60f4f93e941a1e",
    "52f11028ff8a7df3e009d94a8b6a54d4a8a17132efb4ccc1c9a0a41e432bd91e"};

[[noreturn]] void refuse(const std::string& reason) {
  throw TokenizerError("not a usable tokenizer model: " + reason);
}

std::string_view bytes_of(pbf_reader& field) {
  const auto view = field.get_view();
  return {view.data(), view.size()};
}

struct Special {
  std::string_view piece;
  PieceType type;
};
constexpr std::array<Special, 4> kSpecials = {{{kPadPiece, PieceType::control},
                                               {kBosPiece, PieceType::control},
                                               {kEosPiece, PieceType::control},
                                               {kUnkPiece, PieceType::unknown}}};

void check_piece(std::string_view message, size_t index) {
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
  if (index < kSpecials.size() && (text != kSpecials[index].piece || type != kSpecials[index].type))
    refuse(where + " is '" + std::string(text) + "' instead of '" +
           std::string(kSpecials[index].piece) + "'; train it with `ablate tokenizer train`");
}

void check_trainer(std::string_view message) {
  pbf_reader fields(message.data(), message.size());
  while (fields.next(kModelType, pbf_wire_type::varint))
    if (const auto kind = fields.get_enum(); kind < 1 || kind > 4) refuse("it has an unknown kind");
}

void check_normalizer(std::string_view message) {
  for (pbf_reader fields(message.data(), message.size()); fields.next();) {
    switch (fields.tag_and_type()) {
      case tag_and_type(kCharsMap, pbf_wire_type::length_delimited): {
        const auto table = bytes_of(fields);
        if (!table.empty() && std::ranges::find(kKnownTables, sha256(table)) == kKnownTables.end())
          refuse("its normalisation table is not one of SentencePiece 0.2.1");
        break;
      }
      case tag_and_type(kRuleTable, pbf_wire_type::length_delimited):
        if (!bytes_of(fields).empty()) refuse("it has a custom normalisation table");
        break;
      default:
        fields.skip();
    }
  }
}

/// Throws protozero::exception if the message is malformed.
void check_sections(std::string_view model) {
  size_t pieces = 0;
  for (pbf_reader sections(model.data(), model.size()); sections.next();) {
    switch (sections.tag_and_type()) {
      case tag_and_type(kPieces, pbf_wire_type::length_delimited):
        if (pieces >= kMostPieces) refuse("it has more than 1048576 pieces");
        check_piece(bytes_of(sections), pieces++);
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
  if (pieces < kSpecials.size()) refuse("it has only " + std::to_string(pieces) + " pieces");
}

}  // namespace

void check_model(std::string_view model) {
  if (model.empty()) refuse("the file is empty");
  if (model.size() > kLargestModel) refuse("it is larger than 64 MiB");
  try {
    check_sections(model);
  } catch (const protozero::exception&) {
    refuse("the file is cut off or no SentencePiece model");
  }
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
