#pragma once

namespace lagtape::cli {

/// From this call on, the first SIGINT or SIGTERM requests a stop, and the second ends the process at once.
/// SIGHUP, sent when a terminal is closed, requests a stop unless it is ignored (nohup).
void catch_signals();
bool stop_requested();

}  // namespace lagtape::cli
