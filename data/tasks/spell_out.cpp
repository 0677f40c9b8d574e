#include "data/tasks/spell_out.h"

#include <unicode/locid.h>
#include <unicode/rbnf.h>
#include <unicode/unistr.h>

#include <string_view>

#include "data/corpus.h"

namespace ablate::data {

struct SpellOut::Format {
  icu::RuleBasedNumberFormat rules;
};

SpellOut::SpellOut(const std::string& locale) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Locale wanted(locale.c_str());
  format_ = std::make_unique<Format>(
      Format{icu::RuleBasedNumberFormat(icu::URBNF_SPELLOUT, wanted, status)});
  UErrorCode asked = U_ZERO_ERROR;
  const auto actual = format_->rules.getLocale(ULOC_ACTUAL_LOCALE, asked);
  // A language without rules silently gets those of another one, and the root's rules write digits.
  const std::string_view language = wanted.getLanguage();
  if (U_FAILURE(status) != 0 || U_FAILURE(asked) != 0 || language.empty() ||
      actual.getLanguage() != language)
    throw DataError("ICU does not spell out numbers in '" + locale +
                    "'; use the name of a language such as en, de or fr");
}

SpellOut::~SpellOut() = default;

std::string SpellOut::operator()(int64_t number) const {
  icu::UnicodeString text;
  format_->rules.format(number, text);
  text.findAndReplace(icu::UnicodeString(static_cast<UChar32>(0x00ad)), icu::UnicodeString());
  std::string words;
  return text.toUTF8String(words);
}

}  // namespace ablate::data
