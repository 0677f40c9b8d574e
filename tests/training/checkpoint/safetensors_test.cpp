#include "training/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "tests/says.h"
#include "training/storage/errors.h"

namespace ablate::training {
namespace {

bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  const auto left = a.contiguous(), right = b.contiguous();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         (left.nbytes() == 0 ||
          std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0);
}

/// A safetensors file with this header and `data_bytes` zeros.
std::string crafted(const std::string& header, size_t data_bytes) {
  const uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  return bytes + header + std::string(data_bytes, '\0');
}

std::string refusal(const std::string& bytes) {
  return refusal_of<CheckpointError>([&] { from_safetensors(bytes, "F"); }, "accepted");
}

std::string refusal(const std::string& header, size_t data_bytes) {
  return refusal(crafted(header, data_bytes));
}

Tensors every_type() {
  Tensors tensors;
  for (const auto type : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16,
                          torch::kInt64, torch::kInt32, torch::kUInt8, torch::kBool})
    tensors[std::string("t.") + c10::toString(type)] =
        (torch::arange(15).reshape({3, 5}) % 3).to(type);
  return tensors;
}

TEST(Safetensors, RoundTripKeepsEveryTypeAndShape) {
  auto tensors = every_type();
  tensors["scalar"] = torch::tensor(-0.0F);
  tensors["empty"] = torch::empty({0, 7});
  tensors["odd"] = torch::ones({3}, torch::kUInt8);
  tensors["deep"] = torch::ones({1, 1, 1, 1, 1, 1, 1, 2});
  const auto read = from_safetensors(to_safetensors(tensors, {{"format", "pt"}}), "F");
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(same_bits(read.at(name), tensor)) << name;
}

TEST(Safetensors, KeepsTheBitsOfNumbersThatAreNotFinite) {
  const std::vector<uint32_t> bits = {0x7fc00000, 0x7fc12345, 0xffc00001, 0x7f800001,
                                      0x7f800000, 0xff800000, 0x80000000, 0x00000001};
  auto tensor = torch::empty({8});
  std::memcpy(tensor.data_ptr(), bits.data(), 32);
  EXPECT_TRUE(same_bits(from_safetensors(to_safetensors({{"x", tensor}}), "F").at("x"), tensor));
}

TEST(Safetensors, WritesTheValuesOfViews) {
  const auto matrix = torch::arange(12).reshape({3, 4});
  const Tensors views = {{"part", matrix.slice(1, 1, 3)}, {"turned", matrix.t()}};
  const auto read = from_safetensors(to_safetensors(views), "F");
  EXPECT_TRUE(read.at("turned").equal(matrix.t()));
  EXPECT_TRUE(read.at("part").equal(matrix.slice(1, 1, 3)));
}

TEST(Safetensors, WritesParametersWithoutTheirGraph) {
  const auto parameter = torch::ones({2}, torch::requires_grad());
  EXPECT_FALSE(from_safetensors(to_safetensors({{"p", parameter}}), "F").at("p").requires_grad());
}

TEST(Safetensors, OfNothingIsAFile) {
  EXPECT_TRUE(from_safetensors(to_safetensors({}), "F").empty());
}

TEST(Safetensors, AlignsEveryTensor) {
  const auto bytes = to_safetensors({{"a", torch::ones({3}, torch::kBool)},
                                     {"b", torch::ones({1}, torch::kBFloat16)},
                                     {"c", torch::ones({1}, torch::kFloat64)}});
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header % 8, 0U);
  EXPECT_EQ(from_safetensors(bytes, "F").at("c").item<double>(), 1);
  double first = 0;
  std::memcpy(&first, bytes.data() + 8 + header, sizeof first);
  EXPECT_EQ(first, 1);
}

TEST(Safetensors, ReadsWhatThePythonPackageWrote) {
  const auto read = read_safetensors(ABLATE_SOURCE "/tests/training/golden/python.safetensors");
  ASSERT_EQ(read.size(), 8U);
  EXPECT_TRUE(read.at("f32").equal(torch::tensor({{1.5F, -2.0F}, {0.25F, 1e-30F}})));
  EXPECT_TRUE(read.at("f64").equal(torch::tensor(0.1, torch::kFloat64)));
  EXPECT_TRUE(read.at("f16").equal(torch::tensor({0.5, -65504.0}, torch::kFloat16)));
  EXPECT_TRUE(read.at("bf16").equal(torch::tensor({1.0, 3.0e38}, torch::kBFloat16)));
  EXPECT_TRUE(read.at("i64").equal(torch::tensor({int64_t{-1}, int64_t{1} << 62})));
  EXPECT_TRUE(read.at("i32").equal(torch::tensor({-7}, torch::kInt32)));
  EXPECT_TRUE(read.at("u8").equal(torch::tensor({0, 255}, torch::kUInt8)));
  EXPECT_TRUE(read.at("bool").equal(torch::tensor({true, false, true})));
}

TEST(Safetensors, RefusesToWriteWhatItWouldNotRead) {
  const auto one = torch::ones({1});
  for (const auto* name : {"", "a b", "a\nb", "ä", "__metadata__"})
    EXPECT_THROW(to_safetensors({{name, one}}), CheckpointError) << name;
  EXPECT_THROW(to_safetensors({{std::string("a\0b", 3), one}}), CheckpointError);
  EXPECT_THROW(to_safetensors({{"c", one.to(torch::kComplexFloat)}}), CheckpointError);
  EXPECT_THROW(to_safetensors({{"s", one.to_sparse()}}), CheckpointError);
  EXPECT_THROW(to_safetensors({{"d", torch::ones({1, 1, 1, 1, 1, 1, 1, 1, 1})}}), CheckpointError);
}

TEST(Safetensors, ReaderAcceptsAHandMadeFile) {
  const auto read = from_safetensors(
      crafted(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )", 4), "F");
  EXPECT_EQ(read.at("a").item<float>(), 0);
}

struct Crafted {
  std::string header;
  size_t data_bytes;
  std::string complaint;
};

const std::string kSound = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";

std::string one(const std::string& type, const std::string& shape, const std::string& place) {
  return R"({"a":{"dtype":)" + type + R"(,"shape":)" + shape + R"(,"data_offsets":)" + place + "}}";
}

const std::vector<Crafted> kCrafted = {
    {"", 0, "its header is not a JSON object"},
    {" {}", 0, "its header is not a JSON object"},
    {"[]", 0, "its header is not a JSON object"},
    {"{", 0, "its header is not JSON"},
    {"{}x", 0, "its header is not JSON"},
    {"{\"\xff\":{}}", 0, "its header is not JSON"},
    {"{}", 4, "its header describes 0 bytes of data and it has 4"},
    {"{" + kSound + "," + kSound + "}", 4, "its header has the key \"a\" twice"},
    {R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4,
     "its header has the key \"dtype\" twice"},
    {R"({"__metadata__":{"k":"1","k":"2"}})", 0, "its header has the key \"k\" twice"},
    {R"({"__metadata__":{"k":1}})", 0, "__metadata__ does not map names to strings"},
    {R"({"__metadata__":"k"})", 0, "__metadata__ does not map names to strings"},
    {R"({"a":1})", 0, "'a' needs exactly dtype, shape and data_offsets"},
    {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "'a' needs exactly dtype"},
    {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4, "'a' needs exactly"},
    {R"({"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "is no name for a tensor"},
    {R"({"a\u0000b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4,
     R"("a\u0000b" is no name for a tensor)"},
    {"{\"" + std::string(513, 'n') + "\":{}}", 0, "is no name for a tensor"},
    {one("\"C64\"", "[1]", "[0,8]"), 8, "'a' has the unknown type \"C64\""},
    {one("7", "[1]", "[0,4]"), 4, "'a' has the unknown type 7"},
    {one("\"F32\"", "1", "[0,4]"), 4, "the shape of 'a' is not a list"},
    {one("\"F32\"", "[-1]", "[0,4]"), 4, "the shape of 'a' has -1, which is no size"},
    {one("\"F32\"", "[1.0]", "[0,4]"), 4, "the shape of 'a' has 1.0, which is no size"},
    {one("\"F32\"", "[\"1\"]", "[0,4]"), 4, "the shape of 'a' has \"1\", which is no size"},
    {one("\"F32\"", "[99999999999999999999]", "[0,4]"), 4, "which is no size"},
    {one("\"F32\"", "[18446744073709551615]", "[0,4]"), 4, "which is no size"},
    {one("\"F32\"", "[4611686018427387905]", "[0,4]"), 4, "'a' is too large"},
    {one("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, "'a' is too large"},
    {one("\"F32\"", "[0,4294967296,4294967296]", "[0,0]"), 0, "'a' is too large"},
    {one("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "'a' has more than 8 dimensions"},
    {one("\"F32\"", "[1]", "[4,0]"), 4, "data_offsets of 'a' is not [begin, end]"},
    {one("\"F32\"", "[1]", "[0]"), 4, "data_offsets of 'a' is not [begin, end]"},
    {one("\"F32\"", "[1]", "[0,4,4]"), 4, "data_offsets of 'a' is not [begin, end]"},
    {one("\"F32\"", "[1]", "[-4,0]"), 4, "data_offsets of 'a' has -4, which is no size"},
    {one("\"F32\"", "[2]", "[0,4]"), 4, "'a' has the shape of 8 bytes and data of 4"},
    {one("\"F32\"", "[1]", "[4,8]"), 8, "'a' begins at byte 4 instead of 0"},
    {one("\"F32\"", "[1]", "[0,4]"), 5, "its header describes 4 bytes of data and it has 5"},
    {one("\"F32\"", "[2]", "[0,8]"), 4, "its header describes 8 bytes of data and it has 4"},
    {"{" + kSound + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})", 6,
     "'b' begins at byte 2 instead of 4"},
    {"{" + kSound + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4,
     "'b' begins at byte 0 instead of 4"},
    {"{" + kSound + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})", 12,
     "'b' begins at byte 8 instead of 4"},
    {R"({"a":[[[[[1]]]]]})", 0, "its header is nested too deeply"},
    {R"({"a":)" + std::string(100'000, '['), 0, "its header is nested too deeply"},
};

TEST(Safetensors, RefusesCraftedHeadersAndSaysWhy) {
  for (const auto& [header, data_bytes, complaint] : kCrafted) {
    const auto said = refusal(header, data_bytes);
    EXPECT_TRUE(says(said, "'F' is not a sound safetensors file: ")) << header.substr(0, 200);
    EXPECT_TRUE(says(said, complaint)) << header.substr(0, 200);
  }
}

TEST(Safetensors, RefusesHeaderSizesBeyondTheFile) {
  EXPECT_TRUE(says(refusal("1234567"), "7 bytes"));
  for (const uint64_t size : {uint64_t{3}, uint64_t{1} << 40U, std::numeric_limits<uint64_t>::max(),
                              std::numeric_limits<uint64_t>::max() - 7}) {
    std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
    EXPECT_TRUE(says(refusal(bytes + "{}"), "not a sound")) << size;
  }
  EXPECT_TRUE(says(refusal(std::string("{}") + std::string((8U << 20U) - 1, ' '), 0), "8388608"));
}

TEST(Safetensors, RefusesTooManyTensors) {
  std::string header = "{";
  for (int i = 0; i < 65'538; ++i)
    header += (i > 0 ? ",\"" : "\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_TRUE(says(refusal(header + "}", 0), "more than 65536 tensors"));
}

TEST(Safetensors, RefusesBooleansThatAreNeither) {
  auto bytes = crafted(R"({"flag":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_EQ(refusal(bytes), "accepted");
  bytes.back() = 2;
  EXPECT_EQ(refusal(bytes), "'F': 'flag' has a byte that is neither true nor false");
}

TEST(Safetensors, MissingFileIsAnIoError) {
  EXPECT_THROW(read_safetensors("/nonexistent/model.safetensors"), IoError);
}

}  // namespace
}  // namespace ablate::training
