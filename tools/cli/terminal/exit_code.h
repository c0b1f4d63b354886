#pragma once

namespace lagtape::cli {

/// The exit codes of the tool, for scripts.
enum ExitCode {
  kDone = 0,
  kFailed = 1,        ///< any other reason
  kWrongInput = 2,    ///< nothing was written
  kDiverged = 3,      ///< the last good state has been kept
  kInterrupted = 130  ///< the state has been saved
};

}  // namespace lagtape::cli
