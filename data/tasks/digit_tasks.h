#pragma once

#include "data/tasks/source.h"

namespace ablate::data {

Source source_of(const Addition& task);
/// Throws DataError where ICU does not spell one of the languages.
Source source_of(const Numbers& task);

}  // namespace ablate::data
