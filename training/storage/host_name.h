#pragma once

#include <string>

namespace ablate::training {

/// The name of the host; "unknown" where it has none.
std::string host_name();

}  // namespace ablate::training
