#pragma once

namespace ablate::training {

/// From here on SIGTERM and SIGINT only ask for a stop; a second SIGINT ends the process at once.
/// A write beyond a file-size limit or into a closed pipe becomes an error instead of a signal.
void install_signal_handlers();

/// Whether a stop was asked for.
bool stop_requested();

}  // namespace ablate::training
