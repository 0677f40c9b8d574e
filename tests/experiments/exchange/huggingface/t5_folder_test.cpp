#include <string>
#include <vector>

#include "experiments/exchange/huggingface/read_tokenizer.h"
#include "tests/says.h"
#include "tests/training/folder_test_case.h"
#include "tokenizer/tokenizer.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

using tokenizer::Tokenizer;

using T5Folder = training::FolderTestCase;

/// T5Tokenizer reads "<extra_id_0>" as one token, which the model's file does not have.
TEST_F(T5Folder, WithoutTheTokensThatItsClassAddsIsRefused) {
  const std::vector<std::string> lines{"abc abd", "abc"};
  training::write_durably(folder() / "spiece.model",
                          Tokenizer::train({.vocabulary = 12}, lines).bytes());
  const auto refusal = [&](const char* config) {
    training::write_durably(folder() / "tokenizer_config.json", config);
    return refusal_of<tokenizer::TokenizerError>([&] { read_tokenizer(folder()); });
  };
  EXPECT_TRUE(says(refusal(R"({"model_max_length": 512})"),
                   "the token '<extra_id_0>', which its SentencePiece model lacks"));
  EXPECT_EQ(refusal(R"({"extra_ids": 0})"), "");
}

}  // namespace
}  // namespace ablate::exchange
