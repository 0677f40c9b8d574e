#include "tokenizer/byte_model.h"

#include <array>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "tokenizer/model_proto.h"
#include "tokenizer/special_ids.h"

namespace ablate::tokenizer {
namespace {

void add_piece(protozero::pbf_writer& model, std::string_view text, PieceType type) {
  protozero::pbf_writer piece(model, kPieces);
  piece.add_string(kPieceText, text.data(), text.size());
  piece.add_float(kPieceScore, 0);
  piece.add_enum(kPieceType, static_cast<int32_t>(type));
}

/// "<0x00>", as SentencePiece calls the byte 0.
std::string byte_name(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
}

}  // namespace

std::string byte_model(bool mask) {
  std::string bytes;
  protozero::pbf_writer model(bytes);
  add_piece(model, kPadPiece, PieceType::control);
  add_piece(model, kBosPiece, PieceType::control);
  add_piece(model, kEosPiece, PieceType::control);
  add_piece(model, kUnkPiece, PieceType::unknown);
  if (mask) add_piece(model, kMaskToken, PieceType::control);
  for (unsigned byte = 0; byte < 256; ++byte) add_piece(model, byte_name(byte), PieceType::byte);
  {
    protozero::pbf_writer trainer(model, kTrainer);
    trainer.add_enum(kModelType, static_cast<int32_t>(ModelType::character));
    trainer.add_bool(kByteFallback, true);
  }
  protozero::pbf_writer normalizer(model, kNormalizer);
  normalizer.add_string(kNormalizerName, "identity");
  normalizer.add_bool(kAddDummyPrefix, false);
  normalizer.add_bool(kRemoveExtraWhitespaces, false);
  normalizer.add_bool(kEscapeWhitespaces, false);
  return bytes;
}

}  // namespace ablate::tokenizer
