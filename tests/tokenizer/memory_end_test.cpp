// Each allocation of an encoding fails once; this program's operator new is the one below.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace {

thread_local int64_t until_failure = -1;  // allocations of this thread, or negative: none fails

}  // namespace

[[gnu::noinline]] void* operator new(size_t size) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  if (void* block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}
// The library's own calls the one above; AddressSanitizer's does not.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace ablate::tokenizer {
namespace {

TEST(TokenizerWithoutMemory, ThrowsAndEncodesAfterwards) {
  const auto model = Tokenizer::train({.kind = Kind::bpe},
                                      std::vector<std::string>{"the cat sat", "a dog and a cat"});
  const std::string text = "the dog sat";
  const auto expected = model.encode(text);
  mallopt(M_PERTURB, 0x5a);  // what was not written is never null
  int64_t failures = 0;
  for (bool failed = true; failed; ++failures) {
    failed = false;
    until_failure = failures;
    try {
      const auto ids = model.encode(text);
      until_failure = -1;
      EXPECT_EQ(ids, expected);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    until_failure = -1;
  }
  mallopt(M_PERTURB, 0);
  EXPECT_GT(failures, 10);
  EXPECT_EQ(model.encode(text), expected);
}

}  // namespace
}  // namespace ablate::tokenizer
