#include "tests/says.h"
#include "tests/training/folder_test_case.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

class SealedJson : public FolderTestCase {
 protected:
  std::filesystem::path path() const { return folder() / "record.json"; }
  const nlohmann::json record_{{"name", "ä"}, {"values", {1.5, 2}}, {"none", nullptr}};
};

TEST_F(SealedJson, IsReadAsItWasWritten) {
  write_durably(path(), sealed_json(record_));
  EXPECT_EQ(read_sealed_json(path()), record_);
  EXPECT_EQ(sealed_json(read_sealed_json(path())), read_bytes(path()));
}

/// A changed byte is found or, in the key of the digest alone, leaves everything else as it was.
TEST_F(SealedJson, NoByteChangesUnnoticed) {
  const auto whole = sealed_json(record_);
  int accepted = 0;
  for (size_t i = 0; i < whole.size(); ++i)
    for (const int bit : {0, 5}) {
      auto bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      write_durably(path(), bytes);
      try {
        auto found = read_sealed_json(path());
        ++accepted;
        for (const auto& [key, value] : record_.items()) EXPECT_EQ(found.at(key), value) << i;
      } catch (const CheckpointError& error) {
        EXPECT_TRUE(says(error.what(), "record.json is damaged"));
      }
    }
  EXPECT_LE(accepted, 12);  // two bits of the six letters of "sha256"
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    write_durably(path(), whole.substr(0, size));
    EXPECT_THROW(read_sealed_json(path()), CheckpointError) << size;
  }
}

TEST_F(SealedJson, AKeyThatStandsTwiceIsFound) {
  auto bytes = sealed_json(record_);
  bytes.insert(bytes.find('{') + 1, "\n  \"name\": \"ä\",");
  write_durably(path(), bytes);
  EXPECT_THROW(read_sealed_json(path()), CheckpointError);
}

TEST_F(SealedJson, AHundredThousandLevelsAreDamage) {
  write_durably(path(), R"({"sha256": "", "a": )" + std::string(100'000, '[') +
                            std::string(100'000, ']') + "}");
  EXPECT_THROW(read_sealed_json(path()), CheckpointError);
}

TEST_F(SealedJson, AFileWithoutADigestIsDamage) {
  write_durably(path(), R"({"name": "bare"})");
  EXPECT_THROW(read_sealed_json(path()), CheckpointError);
}

}  // namespace
}  // namespace ablate::training
