#include "data/first_lines.h"

#include "data/labelled_text.h"
#include "data/parallel_text.h"

namespace ablate::data {

void check_first_lines(const DataOptions& options, const std::filesystem::path& folder) {
  if (const auto* text = std::get_if<Text>(&options)) check_first_lines(*text, folder);
  if (const auto* text = std::get_if<Labelled>(&options)) check_first_lines(*text, folder);
}

}  // namespace ablate::data
