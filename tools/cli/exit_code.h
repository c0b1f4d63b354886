#pragma once

namespace lagtape::cli {

/// How the tool ends, for scripts.
enum ExitCode {
  kDone = 0,
  kFailed = 1,        ///< For any reason that is not among the others.
  kWrongInput = 2,    ///< Nothing was written.
  kDiverged = 3,      ///< The last good state is kept.
  kInterrupted = 130  ///< The state is saved.
};

}  // namespace lagtape::cli
