#pragma once

namespace lagtape::cli {

/// From this call on, the first SIGINT or SIGTERM requests a stop, and a second one ends the process at once. SIGHUP,
/// of a terminal that is closed, requests a stop, unless it is ignored (nohup).
void catch_signals();
bool stop_requested();

}  // namespace lagtape::cli
