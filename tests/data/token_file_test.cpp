#include "data/token_file.h"

#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "data/augmentation.h"
#include "data/batch_stream.h"
#include "data/read_corpus.h"
#include "data/sequence_format.h"
#include "tests/data/folder_test_case.h"
#include "tests/says.h"
#include "tokenizer/model_trainer.h"
#include "tokenizer/special_tokens.h"

namespace ablate::data {
namespace {

using TokenIds = std::vector<uint32_t>;

const std::filesystem::path kGolden = std::filesystem::path(ABLATE_SOURCE) / "tests/data/golden";

TokenIds all_of(const TokenFile& file) { return file.read(0, file.size()); }

/// The numbers as a file has them, `width` bytes each.
std::string bytes_of(const TokenIds& numbers, size_t width) {
  std::string bytes;
  for (const auto number : numbers)
    for (size_t byte = 0; byte < width; ++byte) bytes += static_cast<char>(number >> (8 * byte));
  return bytes;
}

class TokenFiles : public FolderTestCase {
 protected:
  std::string refusal(const std::string& bytes, std::optional<TokenType> type = {}) {
    const auto file = write("a.bin", bytes);
    return message_of([&] { TokenFile(file, type); });
  }
};

TEST_F(TokenFiles, AreThoseThatNumPyWrites) {
  const TokenIds gpt2{50256, 15496, 11, 314, 716, 257, 3303, 2746, 13, 0, 1, 50256, 464, 886};
  EXPECT_EQ(all_of(TokenFile(kGolden / "nanogpt.bin")), gpt2);
  EXPECT_EQ(all_of(TokenFile(kGolden / "llmc.bin")), gpt2);
  EXPECT_EQ(all_of(TokenFile(kGolden / "llama3.bin")),
            (TokenIds{128000, 9906, 11, 856, 836, 374, 0, 128255}));
  const TokenFile file(kGolden / "llmc.bin");
  EXPECT_EQ(file.read(2, 3), (TokenIds{11, 314, 716}));
  EXPECT_EQ(file.offset_of(2), 1024 + 4);
}

TEST_F(TokenFiles, BeginWithTheHeaderThatNumPyWrites) {
  const auto header_in = [](const char* name) {
    std::ifstream stream(kGolden / name, std::ios::binary);
    std::string bytes(1024, 'x');
    stream.read(bytes.data(), 1024);
    return bytes;
  };
  EXPECT_EQ(token_header(TokenType::uint16, 14), header_in("llmc.bin"));
  EXPECT_EQ(token_header(TokenType::uint32, 8), header_in("llama3.bin"));
}

TEST_F(TokenFiles, AreRefusedIfTheirHeaderSaysOtherwise) {
  const auto header = token_header(TokenType::uint16, 3);
  EXPECT_EQ(refusal(header + bytes_of({1, 2, 3}, 2)), "no error");
  EXPECT_EQ(refusal(header + bytes_of({1, 2}, 2)),
            "a.bin has 1028 bytes, and 3 tokens, of which its header speaks, take 1030");
  EXPECT_EQ(refusal(header + bytes_of({1, 2, 3, 4}, 2)),
            "a.bin has 1032 bytes, and 3 tokens, of which its header speaks, take 1030");
  EXPECT_EQ(refusal(header.substr(0, 500)),
            "a.bin has 500 bytes, and 3 tokens, of which its header speaks, take 1030");
  auto other = header;
  other[4] = 2;
  EXPECT_EQ(refusal(other + bytes_of({1, 2, 3}, 2)),
            "a.bin has a header of version 2; with the magic number 20240520 version 1 is read");
  EXPECT_EQ(refusal(header + bytes_of({1, 2, 3}, 2), TokenType::uint32),
            "a.bin holds uint16 tokens by its header, and data.dtype is uint32; leave data.dtype "
            "out");
}

TEST_F(TokenFiles, WithoutHeaderAreRefusedIfTheirBytesAreOfAnotherType) {
  EXPECT_EQ(refusal("abc"), "a.bin has 3 bytes, which is no whole number of uint16 tokens");
  EXPECT_EQ(refusal("abcdef", TokenType::uint32),
            "a.bin has 6 bytes, which is no whole number of uint32 tokens");
  EXPECT_EQ(refusal(""), "a.bin has no tokens");
}

/// Every number has the bytes of its type.
template <class T>
std::string numbers_of(const TokenIds& ids) {
  std::string bytes;
  for (const auto id : ids) {
    const auto number = static_cast<T>(id);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(T));
  }
  return bytes;
}

TEST_F(TokenFiles, WithoutHeaderAreReadAsNoOtherTypeThanTheirs) {
  const auto read_as = [&](const std::string& bytes, std::optional<TokenType> type,
                           int64_t vocabulary) {
    const auto file = write("a.bin", bytes);
    const auto message = message_of([&] { TokenFile(file, type).check_type(vocabulary); });
    return message.substr(0, message.find(';'));
  };
  constexpr auto kNarrow = TokenType::uint16, kWide = TokenType::uint32;
  for (const uint32_t vocabulary : {100U, 50'000U, 100'000U, 1'000'000U}) {
    TokenIds ids(200);
    for (uint32_t i = 0; i < ids.size(); ++i) ids[i] = (i * i * 7919 + i) % vocabulary;
    const auto holds = [&](const std::string& found, const std::string& own) {
      return "a.bin holds " + found + " numbers, not " + own + ": read as " + found +
             ", all are ids below " + std::to_string(vocabulary);
    };
    EXPECT_EQ(read_as(bytes_of(ids, 4), kNarrow, vocabulary), holds("uint32", "uint16"));
    EXPECT_EQ(read_as(numbers_of<int64_t>(ids), kNarrow, vocabulary), holds("int64", "uint16"));
    EXPECT_EQ(read_as(numbers_of<int64_t>(ids), kWide, vocabulary), holds("int64", "uint32"));
    EXPECT_EQ(read_as(numbers_of<double>(ids), kNarrow, vocabulary), holds("float64", "uint16"));
    EXPECT_EQ(read_as(numbers_of<double>(ids), kWide, vocabulary), holds("float64", "uint32"));
    EXPECT_EQ(read_as(numbers_of<float>(ids), kNarrow, vocabulary), holds("float32", "uint16"));
    EXPECT_EQ(read_as(bytes_of(ids, 4), kWide, vocabulary), "no error");
    EXPECT_EQ(read_as(bytes_of(ids, 4), {}, vocabulary), holds("uint32", "uint16"));
    if (vocabulary > 65'536) continue;
    EXPECT_EQ(read_as(bytes_of(ids, 2), {}, vocabulary), "no error");
  }
  const TokenIds pairs{5, 300, 7, 301, 2, 302, 9, 303, 1, 304, 3, 305, 2, 306, 4, 307};
  EXPECT_EQ(read_as(bytes_of(pairs, 2), {}, 65'536), "no error") << "words of two kinds in turn";
  EXPECT_EQ(read_as(bytes_of(pairs, 2), {}, 70'000),
            "a.bin has no header, and uint16, as which it would be read, is too narrow for ids "
            "below 70000");
  EXPECT_EQ(read_as(bytes_of(pairs, 2), kNarrow, 70'000), "no error");
  EXPECT_EQ(read_as(std::string(2000, '\0'), {}, 10), "no error");
  std::string narrow, wide;  // ids of one byte, big-endian
  for (int id = 4; id < 60; ++id) {
    narrow += {'\0', static_cast<char>(id)};
    wide += {'\0', '\0', '\0', static_cast<char>(id)};
  }
  for (const uint32_t vocabulary : {64U, 50'000U, 65'536U}) {
    const std::string found = "a.bin holds big-endian numbers: read as ";
    const std::string multiples = ", all are multiples of 256";
    EXPECT_EQ(read_as(narrow, {}, vocabulary), found + "uint16" + multiples);
    EXPECT_EQ(read_as(wide, {}, vocabulary), found + "uint16" + multiples);
    EXPECT_EQ(read_as(wide, kWide, vocabulary), found + "uint32" + multiples);
  }
}

TEST_F(TokenFiles, OfFloat16AreToldFromUint16) {
  TokenIds halves;
  for (uint32_t i = 1; i < 400; ++i) {
    const auto exponent = static_cast<uint32_t>(std::bit_width(i)) - 1;
    halves.push_back((exponent + 15) << 10U | ((i << 10U >> exponent) & 1023U));
  }
  const auto error = [&] {
    const auto file = write("a.bin", bytes_of(halves, 2));
    return message_of([&] { TokenFile(file, {}).check_type(50'000); });
  };
  EXPECT_TRUE(says(error(), "holds float16 numbers, not uint16"));
  halves.push_back(1000);
  EXPECT_EQ(error(), "no error") << "1000 is no integer as a float16";
}

TEST_F(TokenFiles, OfSingleBytesAreToldFromUint16UnlessTheStudySaysTheType) {
  const auto drawn = [](double most, double power) {  // rarer the larger
    std::mt19937 random(1);
    TokenIds ids(6000);
    for (auto& id : ids) {
      const auto share = static_cast<double>(random()) / 4294967296.0;
      id = static_cast<uint32_t>(most * std::pow(share, power));
    }
    return ids;
  };
  const auto read_as = [&](const std::string& bytes, std::optional<TokenType> type) {
    const auto file = write("a.bin", bytes);
    return message_of([&] { TokenFile(file, type).check_type(65'536); });
  };
  const auto characters = bytes_of(drawn(65, 2), 1);
  EXPECT_TRUE(says(read_as(characters, {}), "looks like uint8 numbers, not uint16"));
  EXPECT_EQ(read_as(characters, TokenType::uint16), "no error");
  for (const double vocabulary : {200.0, 5000.0, 50'257.0, 65'000.0})
    for (const double power : {1.0, 3.0})
      EXPECT_EQ(read_as(bytes_of(drawn(vocabulary, power), 2), {}), "no error")
          << vocabulary << " " << power;
}

TEST_F(TokenFiles, OfAnotherTypeSayHowToWriteThem) {
  const TokenIds ids(50, 3);
  const Tokens tokens{.train = "a.bin", .validation = "a.bin"};
  write("a.bin", bytes_of(ids, 4));
  EXPECT_EQ(message_of([&] { open_tokens(tokens, folder_); }),
            "a.bin holds uint32 numbers, not uint16: read as uint32, all are ids below 65536; "
            "write data.dtype: uint32");
  write("a.bin", numbers_of<int64_t>(ids));
  EXPECT_EQ(message_of([&] { open_tokens(tokens, folder_); }),
            "a.bin holds int64 numbers, not uint16: read as int64, all are ids below 65536; "
            "numpy.fromfile(FILE, 'int64').astype('uint32').tofile(...), and write data.dtype: "
            "uint32");
  const auto file =
      std::make_shared<const TokenFile>(write("a.bin", bytes_of({70'000, 65'537}, 4)));
  EXPECT_TRUE(says(message_of([&] { FileText(file, std::vector<int32_t>(100'000, 4)); }),
                   "too narrow for ids below 100000"));
}

TEST_F(TokenFiles, NameTheTokenThatTheVocabularyLacks) {
  const auto file = std::make_shared<const TokenFile>(kGolden / "llmc.bin");
  std::vector<int32_t> ids(50'256);
  std::iota(ids.begin(), ids.end(), 4);
  EXPECT_TRUE(says(message_of([&] { FileText(file, ids); }),
                   "llmc.bin: token 0 (byte 1024) is 50256, which is no token of the vocabulary "
                   "of 50256"));
  ids.push_back(2);
  const FileText text(file, ids);
  EXPECT_EQ(text.read(0, 4), (std::vector<int32_t>{2, 15500, 15, 318}));
  EXPECT_EQ(text.size(), 14);
}

TEST_F(TokenFiles, OfAnySizeAreKnownByPiecesFromTheirFirstToTheirLastToken) {
  const int64_t size = 3 * 1024 * TokenFile::kPiece + 5;
  const auto file = write("large.bin", "abcd");
  std::filesystem::resize_file(file, static_cast<uintmax_t>(2 * size));  // sparse
  const TokenFile zeros(file);
  const auto pieces = zeros.pieces();
  ASSERT_EQ(pieces.size(), 1024U);
  EXPECT_EQ(pieces.front(), 0);
  EXPECT_EQ(pieces.back(), 3 * 1024 * TokenFile::kPiece);
  EXPECT_GT(pieces[1], 0);
  const auto before = zeros.sha256();
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-1, std::ios::end);
  stream.put('x').flush();
  EXPECT_NE(TokenFile(file).sha256(), before);
}

SequenceFormat format_of(const Tokens& tokens) {
  return {tokens, {.encoder = false, .decoder = true}, 20};
}

Tokenizers numbers(int64_t count) {
  const auto model = tokenizer::Tokenizer::from_bytes(tokenizer::number_model(count));
  return {model, model};
}

TEST_F(TokenFiles, AreEvaluatedInBlocksThatPredictEveryTokenButTheFirst) {
  TokenIds ids(100);
  std::iota(ids.begin(), ids.end(), 0);
  write("a.bin", bytes_of(ids, 2));
  Tokens tokens{.train = "a.bin", .validation = "a.bin", .vocabulary = 100, .end_token = 40};
  tokens.block = 8;
  const auto corpus = open_tokens(tokens, folder_);
  const auto predicted = [&](const Tokens& options) {
    std::vector<int32_t> all;
    for (const auto& example :
         format_of(options).encode(corpus.validation, numbers(100)).examples) {
      EXPECT_LE(std::ssize(example.target), 9);
      all.insert(all.end(), example.target.begin() + 1, example.target.end());
    }
    return all;
  };
  std::vector<int32_t> expected;
  for (int32_t id = 1; id < 100; ++id) expected.push_back(id == 40 ? tokenizer::kEos : id + 4);
  EXPECT_EQ(predicted(tokens), expected);
  tokens.evaluated_tokens = 31;
  expected.resize(30);
  EXPECT_EQ(predicted(tokens), expected);
}

TEST_F(TokenFiles, AreTrainedOnAsTheSameIdsInMemoryAre) {
  TokenIds ids(1000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint32_t>(i * i % 96 + 4);
  const FileText text(std::make_shared<const TokenFile>(write("a.bin", bytes_of(ids, 2))), [] {
    std::vector<int32_t> same(100);
    std::iota(same.begin(), same.end(), 0);
    return same;
  }());
  const std::vector<EncodedExample> memory{
      {.source = {}, .target = {ids.begin(), ids.end()}, .prompt_length = 1}};
  BatchStream::Options options{
      .tokens_per_batch = 50, .seed = 3, .start = {}, .augmentation = {.chunking = Chunking{7}}};
  BatchStream expected(memory, options);
  options.augmentation.chunking->text = text;
  BatchStream stream({}, options);
  while (expected.position().epoch < 2)
    EXPECT_EQ(stream.next().target_out, expected.next().target_out);
  EXPECT_EQ(stream.position(), expected.position());
}

TEST_F(TokenFiles, OfOneTokenHaveNothingToPredict) {
  write("a.bin", "ab");
  EXPECT_EQ(message_of([&] { open_tokens({.train = "a.bin", .validation = "a.bin"}, folder_); }),
            "a.bin has one token, which nothing predicts");
}

/// Only the document that a prompt ends in is read on.
TEST_F(TokenFiles, WithMaskedDocumentsContinueOneDocument) {
  Tokens tokens{.train = "a", .validation = "a", .vocabulary = 10, .end_token = 0};
  const auto both = numbers(10);
  const auto ids = [&] { return format_of(tokens).encode_source("7 8\n9", both)->ids; };
  EXPECT_EQ(ids(), (std::vector<int32_t>{11, 12, 2, 13}));
  EXPECT_FALSE(format_of(tokens).end_token(false));
  tokens.mask_documents = true;
  EXPECT_EQ(ids(), (std::vector<int32_t>{2, 13}));
  EXPECT_EQ(format_of(tokens).end_token(false), tokenizer::kEos);
}

TEST_F(TokenFiles, ArePromptsWithoutOtherWordsThatStayNumbers) {
  const Tokens tokens{.train = "a", .validation = "a", .vocabulary = 10, .end_token = 0};
  const auto both = numbers(10);
  const auto format = format_of(tokens);
  for (const std::string text : {"7 10", "7 a", "07"})
    EXPECT_EQ(message_of([&] { format.encode_source(text, both); }),
              "the prompt '" + text +
                  "' holds what is no id: this model reads numbers below 10, with spaces between "
                  "them (data.vocabulary)");
  const auto added = [&](const std::string& text) {
    const auto source = format.encode_source(text, both)->ids;
    return format.continuation(text, source, both.target.encode("1 2"), both);
  };
  EXPECT_EQ(added("7"), " 1 2");
  EXPECT_EQ(added("7 0"), " 1 2");
  EXPECT_EQ(added("7 0 "), "1 2");
  EXPECT_EQ(added("7\n"), "1 2");
  EXPECT_EQ(added(""), "1 2");
}

/// No text is read as these ids, so no output has them.
TEST_F(TokenFiles, HaveIdsThatNoOutputHas) {
  Tokens tokens{.train = "a", .validation = "a", .vocabulary = 10};
  EXPECT_EQ(format_of(tokens).unwritten(), (std::vector<int64_t>{tokenizer::kUnk}));
  tokens.end_token = 9;
  EXPECT_EQ(format_of(tokens).unwritten(), (std::vector<int64_t>{tokenizer::kUnk, 13}));
  tokens = {.train = "a", .validation = "a"};
  EXPECT_TRUE(format_of(tokens).unwritten().empty());
}

TEST_F(TokenFiles, AreScoredWithTheEndTokenWhereItsNumberStands) {
  const Tokens tokens{.train = "a", .validation = "a", .vocabulary = 10, .end_token = 0};
  const auto set =
      format_of(tokens).encode_each(std::vector<Example>{{"7 0 8", "0 9"}}, numbers(10));
  EXPECT_EQ(set.examples.at(0).target, (std::vector<int32_t>{11, 2, 12, 2, 2, 13, 2}));
}

}  // namespace
}  // namespace ablate::data
