#pragma once

#include <span>
#include <string>

namespace ablate::training {

/// Word error rate: the fewest words that have to be inserted, deleted or replaced to make the
/// hypotheses into the references, divided by the words of all references. Words are parted by a
/// space or by two characters of white space, as jiwer's are. 0 is perfect, and it may exceed 1;
/// NaN where no reference has a word. Equal to that of jiwer 4.0.0. Throws std::invalid_argument
/// where the numbers of lines differ.
double word_error_rate(std::span<const std::string> hypotheses,
                       std::span<const std::string> references);

}  // namespace ablate::training
