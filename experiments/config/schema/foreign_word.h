#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::config {

/// The path under which metrics are listed.
inline constexpr std::string_view kMetricPath = "compare.metric";

/// A word of another toolkit, and what it is called here.
struct ForeignWord {
  std::string word;    // in lower case, with _ for -
  std::string path;    // the key, kMetricPath of a metric; empty: there is none
  std::string value;   // the key's value as YAML; empty: the word is the name of the key
  std::string remark;  // how the meaning differs; may be empty
};

/// All of them, from foreign_words.yaml. A word may stand for several things.
std::span<const ForeignWord> foreign_words();

/// "model.position.kind: rotary", "training.schedule.peak: a batch is measured in ...".
std::string answer_text(const ForeignWord& word);

/// The first entry of a word, written in any case and with - or _; null if there is none.
const ForeignWord* find_foreign_word(std::string_view word);

/// "; here it is training.schedule.peak" for a key of another toolkit; empty for all other keys.
std::string hint_for_foreign_key(std::string_view key);

/// "; did you mean n_layer? Here it is model.layers", for a key that is spelled nearly like one of
/// another toolkit; empty for all other keys.
std::string hint_for_misspelt_foreign_key(std::string_view key);

/// "; write rotary" for a value of another toolkit at `path`, or what it is elsewhere; empty for
/// all other values.
std::string hint_for_foreign_value(std::string_view path, std::string_view value);

/// The same, or else did_you_mean() among the values that `path` can have.
std::string hint_for_value(std::string_view path, std::string_view value,
                           const std::vector<std::string>& known);

}  // namespace ablate::config
