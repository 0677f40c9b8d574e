#include "experiments/config/study/clause.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/schema/metric.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr const char* kForm =
    "write '[task:] arm.metric < 0.5 * arm.metric[test set]', with <, <=, >, >= or 'within 0.05 "
    "of'";

/// A syntax error or unknown name, at a position of the clause.
struct Unreadable {
  size_t at;
  std::string message;
};

bool word_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') ||
         std::string_view("._=-+").find(letter) != std::string_view::npos;
}

class ClauseReader {
 public:
  ClauseReader(const std::string& text, const StudyNames& names) : text_(text), names_(names) {}

  Clause read() {
    Clause clause{.text = text_};
    clause.task = read_task();
    clause.left = read_side();
    const size_t at = start();
    clause.relation = read_relation();
    if (clause.relation == Relation::within) {
      clause.tolerance = read_number();
      if (read_word() != "of") throw Unreadable{at, std::string("'within' needs 'of'; ") + kForm};
    }
    clause.right = read_side();
    if (start() < text_.size()) throw Unreadable{at_, "unexpected text after the claim"};
    if (!clause.left.arm && !clause.right.arm) throw Unreadable{0, "the claim names no arm"};
    return clause;
  }

 private:
  /// Skips blanks and gives the position after them.
  size_t start() {
    at_ = std::min(text_.find_first_not_of(' ', at_), text_.size());
    return at_;
  }

  std::string read_word() {
    const size_t begin = start();
    while (at_ < text_.size() && word_letter(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool take(std::string_view sign) {
    start();
    if (std::string_view(text_).substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }

  std::string read_task() {
    auto word = read_word();
    const bool named = take(":");
    if (!named) at_ = 0;
    if (named) {
      require_setting(word);
      return word;
    }
    const auto names = names_of(names_.settings);
    if (names.size() > 1)
      throw Unreadable{0, fmt::format("name the task: {}", alternatives(names))};
    return names.empty() ? "" : names.front();
  }

  void require_setting(const std::string& word) const {
    const auto names = names_of(names_.settings);
    const auto of_task = settings_in(names_.settings, word);
    if (std::ranges::find(names, word) == names.end() && !of_task.empty())
      throw Unreadable{0, fmt::format("{} is run in several settings; name one: {}",
                                      in_quotes(word), alternatives(of_task))};
    require_known(word, names, "task", 0);
  }

  double read_number() {
    const size_t at = start();
    const auto word = read_word();
    const auto number = spelled_number(word);
    if (!number) throw Unreadable{at, fmt::format("{} is not a number", in_quotes(word))};
    return *number;
  }

  Term read_side() {
    Term term;
    size_t at = start();
    auto word = read_word();
    if (const auto number = spelled_number(word)) {
      term.factor = *number;
      if (!take("*")) return term;
      at = start();
      word = read_word();
    }
    const size_t dot = word.rfind('.');
    if (dot == std::string::npos || dot == 0)
      throw Unreadable{at, fmt::format("cannot read {} as arm.metric; {}",
                                       in_quotes(word.empty() ? text_.substr(at) : word), kForm)};
    const auto arm = word.substr(0, dot);
    term.metric = word.substr(dot + 1);
    require_known(arm, names_.arms, "arm", at);
    term.arm = arm;
    const auto& metrics = names_of_metrics();
    if (std::ranges::find(metrics, term.metric) == metrics.end())
      throw Unreadable{at + dot + 1,
                       fmt::format("unknown metric {} in expect{}", in_quotes(term.metric),
                                   hint_for_value(kMetricPath, term.metric, metrics))};
    if (at_ < text_.size() && text_[at_] == '[') term.test_set = read_test_set();
    return term;
  }

  std::string read_test_set() {
    const size_t begin = at_ + 1;
    const size_t end = text_.find(']', begin);
    if (end == std::string::npos) throw Unreadable{at_, "'[' without ']'"};
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  Relation read_relation() {
    for (const auto& [relation, sign] : names(Relation{}))
      if (take(sign)) return relation;
    throw Unreadable{start(), std::string("a comparison is missing here; ") + kForm};
  }

  void require_known(const std::string& word, const std::vector<std::string>& known,
                     const char* what, size_t at) const {
    if (std::ranges::find(known, word) == known.end())
      throw Unreadable{at, fmt::format("unknown {} {} in expect{}", what, in_quotes(word),
                                       did_you_mean(word, known))};
  }

  const std::string& text_;
  const StudyNames& names_;
  size_t at_ = 0;
};

}  // namespace

Clause read_clause(const Value& item, const StudyNames& names, ProblemList& problems) {
  try {
    return ClauseReader(item.scalar, names).read();
  } catch (const Unreadable& problem) {
    auto mark = item.mark;
    mark.column += static_cast<int>(problem.at) + (item.quoted ? 1 : 0);
    problems.add(mark, problem.message);
    return {};
  }
}

}  // namespace ablate::config
