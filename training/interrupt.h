#pragma once

#include <stdexcept>

namespace ablate::training {

/// A stop was asked for; the checkpoint is saved and the same command continues.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// From here on SIGTERM and SIGINT only ask for a stop; a second SIGINT ends the process at once.
/// A write beyond a file-size limit or into a closed pipe becomes an error instead of a signal.
void install_signal_handlers();

/// Whether a stop was asked for.
bool stop_requested();

}  // namespace ablate::training
