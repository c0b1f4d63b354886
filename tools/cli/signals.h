#pragma once

namespace lagtape::cli {

/// From this call on, the first SIGINT or SIGTERM requests a stop, and a second one ends the process at once.
void catch_signals();
bool stop_requested();

}  // namespace lagtape::cli
