#include "tokenizer/model_check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "tokenizer/digest.h"
#include "tokenizer/special_ids.h"
#include "tokenizer/utf8.h"
#include "tokenizer/wire.h"

namespace ablate::tokenizer {
namespace {

constexpr size_t kMostPieces = size_t{1} << 20U;
constexpr size_t kLongestPiece = 4096;

// Field numbers of sentencepiece_model.proto.
constexpr uint64_t kPieces = 1, kTrainer = 2, kNormalizer = 3, kDenormalizer = 5;
constexpr uint64_t kPieceText = 1, kPieceScore = 2, kPieceType = 3;
constexpr uint64_t kModelType = 3, kCharsMap = 2, kRuleTable = 6;
constexpr uint64_t kUnknownType = 2, kControlType = 3;

// The library walks a table of a double-array trie without bounds, so only the tables that it
// brings itself are accepted: nmt_nfkc, nmt_nfkc_cf and nfkc of SentencePiece 0.2.1.
constexpr std::array<std::string_view, 3> kKnownTables = {
    "79372c41389c2b9b29bc171017ab5400e352debd686b02670a42bec709015074",
    "22c292c76f503795f30c85d79d30a7f572fff4f49e00392d2d60f4f93e941a1e",
    "52f11028ff8a7df3e009d94a8b6a54d4a8a17132efb4ccc1c9a0a41e432bd91e"};

[[noreturn]] void refuse(const std::string& reason) {
  throw TokenizerError("not a usable tokenizer model: " + reason);
}

struct Special {
  std::string_view piece;
  uint64_t type;
};
constexpr std::array<Special, 4> kSpecials = {{{kPadPiece, kControlType},
                                               {kBosPiece, kControlType},
                                               {kEosPiece, kControlType},
                                               {kUnkPiece, kUnknownType}}};

void check_piece(std::string_view message, size_t index) {
  const auto where = "piece " + std::to_string(index);
  std::string_view text;
  uint64_t type = 1;
  WireField field;
  for (WireReader reader(message); !reader.done();) {
    if (!reader.next(field)) refuse(where + " is malformed");
    if (field.number == kPieceText) text = field.bytes;
    if (field.number == kPieceType) type = field.value;
    if (field.number == kPieceScore &&
        !std::isfinite(std::bit_cast<float>(static_cast<uint32_t>(field.value))))
      refuse(where + " has a score that is not finite");
  }
  if (text.empty()) refuse(where + " is empty");
  if (text.size() > kLongestPiece)
    refuse(where + " has " + std::to_string(text.size()) + " bytes; the limit is 4096");
  if (!valid_utf8(text) || text.find('\0') != std::string_view::npos)
    refuse(where + " is not valid UTF-8 text");
  if (index < kSpecials.size() && (text != kSpecials[index].piece || type != kSpecials[index].type))
    refuse(where + " is '" + std::string(text) + "' where '" + std::string(kSpecials[index].piece) +
           "' must be; train it with `ablate tokenizer train`");
}

void check_trainer(std::string_view message) {
  WireField field;
  for (WireReader reader(message); !reader.done();) {
    if (!reader.next(field)) refuse("its trainer section is malformed");
    if (field.number == kModelType && (field.value < 1 || field.value > 4))
      refuse("it has an unknown kind");
  }
}

void check_normalizer(std::string_view message) {
  WireField field;
  for (WireReader reader(message); !reader.done();) {
    if (!reader.next(field)) refuse("its normalisation section is malformed");
    const bool table = field.number == kCharsMap && !field.bytes.empty();
    if (table && std::ranges::find(kKnownTables, sha256(field.bytes)) == kKnownTables.end())
      refuse("its normalisation table is none of SentencePiece 0.2.1's own");
    if (field.number == kRuleTable && !field.bytes.empty())
      refuse("it has a normalisation table of its own");
  }
}

}  // namespace

void check_model(std::string_view model) {
  if (model.empty()) refuse("the file is empty");
  if (model.size() > kLargestModel) refuse("it is larger than 64 MiB");
  size_t pieces = 0;
  WireField field;
  for (WireReader reader(model); !reader.done();) {
    if (!reader.next(field)) refuse("the file is cut off or no SentencePiece model");
    const bool known = field.number == kPieces || field.number == kTrainer ||
                       field.number == kNormalizer || field.number == kDenormalizer;
    if (known && field.type != 2) refuse("the file is no SentencePiece model");
    if (field.number == kPieces) {
      if (pieces >= kMostPieces) refuse("it has more than 1048576 pieces");
      check_piece(field.bytes, pieces++);
    }
    if (field.number == kTrainer) check_trainer(field.bytes);
    if (field.number == kNormalizer || field.number == kDenormalizer) check_normalizer(field.bytes);
  }
  if (pieces < kSpecials.size()) refuse("it has only " + std::to_string(pieces) + " pieces");
}

}  // namespace ablate::tokenizer
