#include "data/random.h"

namespace ablate::data {

Random::Random(uint64_t seed, std::string_view purpose, uint64_t index) : state_(seed) {
  for (const char letter : purpose) state_ = next() ^ static_cast<unsigned char>(letter);
  state_ = next() ^ index;
}

uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15U;
  uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

int64_t Random::below(int64_t bound) {
  const auto range = static_cast<uint64_t>(bound);
  const uint64_t reject = (0 - range) % range;  // the first values would make the rest non-uniform
  uint64_t value = next();
  while (value < reject) value = next();
  return static_cast<int64_t>(value % range);
}

}  // namespace ablate::data
