#pragma once

namespace lagtape::cli {

/// From now on the first SIGINT or SIGTERM is a request to stop; a second one ends the process at once.
void catch_signals();
bool stop_requested();

}  // namespace lagtape::cli
