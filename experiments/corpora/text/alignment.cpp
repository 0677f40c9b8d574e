#include "experiments/corpora/text/alignment.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <set>

#include "experiments/corpora/text/text.h"

namespace ablate::corpora {
namespace {

constexpr double kLongest = 2.5, kShortest = 0.4;  // translation / source, in characters
constexpr double kLetters = 0.7, kCopied = 0.6;

using Words = std::set<std::string>;

icu::UnicodeString unicode(const std::string& text) { return icu::UnicodeString::fromUTF8(text); }

std::string lowered(const std::string& text) {
  std::string utf8;
  return unicode(text).toLower(icu::Locale::getRoot()).toUTF8String(utf8);
}

/// The runs of letters of a lower-case text.
Words letter_words(const std::string& text) {
  Words words;
  icu::UnicodeString word;
  const auto letters = unicode(text) + u' ';
  for (int32_t i = 0; i < letters.length(); i = letters.moveIndex32(i, 1)) {
    const auto letter = letters.char32At(i);
    if (u_isalpha(letter) != 0) {
      word.append(letter);
    } else if (!word.isEmpty()) {
      std::string utf8;
      words.insert(word.toUTF8String(utf8));
      word.remove();
    }
  }
  return words;
}

bool is_mostly_letters(const icu::UnicodeString& text) {
  int32_t all = 0, letters = 0;
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1), ++all)
    letters += u_isalpha(text.char32At(i)) != 0 || text.char32At(i) == ' ' ? 1 : 0;
  return letters >= kLetters * all;
}

bool are_alike_in_length(const icu::UnicodeString& source, const icu::UnicodeString& target) {
  const double ratio = static_cast<double>(target.countChar32()) / source.countChar32();
  return ratio >= kShortest && ratio <= kLongest;
}

/// English where a translation should be.
bool is_english(const std::string& lower, const Language& language) {
  // Those that no other language here has.
  static const Words kEnglish{"the", "of", "and", "to",  "is",   "for", "that", "this", "with",
                              "are", "be", "it",  "you", "from", "or",  "by",   "not",  "can"};
  int english = 0;
  for (const auto& word : letter_words(lower)) {
    if (std::ranges::find(language.function_words, word) != language.function_words.end())
      return false;
    english += kEnglish.contains(word) ? 1 : 0;
  }
  return english >= 2;
}

bool is_copied(const std::string& source, const std::string& target) {
  const auto of = [](const std::string& text) {
    const auto words = words_of(text);
    return Words(words.begin(), words.end());
  };
  const auto before = of(source), after = of(target);
  const auto common =
      std::ranges::count_if(after, [&](const auto& word) { return before.contains(word); });
  return static_cast<double>(common) > kCopied * static_cast<double>(after.size());
}

}  // namespace

Language german() {
  return {"de",
          {"der",  "die", "das", "und",  "in",   "ist",   "für", "ein", "eine",
           "zu",   "den", "von", "mit",  "auf",  "nicht", "sie", "es",  "werden",
           "wird", "dem", "des", "kann", "oder", "im",    "als"},
          "ÜBERSETZUNG"};
}

Language french() {
  return {"fr",
          {"le",   "la", "les",  "des", "et",   "est", "pour", "un",  "une", "que",   "qui",
           "dans", "de", "du",   "en",  "au",   "aux", "sur",  "pas", "ce",  "cette", "par",
           "avec", "il", "sont", "ou",  "vous", "ne",  "peut", "l",   "d"},
          "TRADUCTION"};
}

Language italian() {
  return {"it",
          {"il",   "la",  "le",   "lo",  "gli", "i",   "di",  "e",     "un",   "una",
           "per",  "che", "non",  "con", "in",  "da",  "del", "della", "dei",  "è",
           "sono", "si",  "come", "o",   "al",  "nel", "può", "l",     "delle"},
          "TRADUZIONE"};
}

void add_sentences(std::vector<Pair>& pairs, const Pair& paragraphs, std::string_view ends) {
  const auto sources = sentences(paragraphs.source, ends);
  const auto targets = sentences(paragraphs.target, ends);
  if (sources.size() != targets.size()) {
    if (paragraphs.source != paragraphs.target) pairs.push_back(paragraphs);
    return;
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i] != targets[i]) pairs.push_back({paragraphs.document, sources[i], targets[i]});
}

bool is_clean(const Pair& pair, const Language& language) {
  const auto words = count_words(pair.source), translated = count_words(pair.target);
  if (words < 3 || words > 80 || translated < 1 || translated > 80) return false;
  const auto source = unicode(pair.source), target = unicode(pair.target);
  if (!are_alike_in_length(source, target)) return false;
  if (!is_mostly_letters(source) || !is_mostly_letters(target)) return false;
  const auto lower = lowered(pair.target);
  return !is_english(lower, language) && !is_copied(lowered(pair.source), lower);
}

int64_t CleanPairs::add(std::vector<Pair> pairs) {
  const auto before = std::ssize(pairs_);
  for (auto& pair : pairs)
    if (is_clean(pair, language_) && sources_.insert(lowered(pair.source)).second)
      pairs_.push_back(std::move(pair));
  return std::ssize(pairs_) - before;
}

}  // namespace ablate::corpora
