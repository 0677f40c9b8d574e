#pragma once

namespace ablate::data {

/// What of a test set is compared with its references.
enum class Compared { text, label, nothing };

}  // namespace ablate::data
