#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/problem.h"

namespace lagtape::sweep {

/// A second process of this program with other arguments. It has a separate process group, so Ctrl-C in a
/// terminal reaches it only through its parent, and it must stop whenever its parent ends, for any reason.
class Child {
 public:
  /// Starts the process and appends its output to `log`. If it fails, it writes its problems to a file of the
  /// same name ending in .problems. Throws InputError if the log cannot be written, Error if the system cannot
  /// start a process.
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  ///< stops it and waits for it

  /// The exit code once the process has ended, or 128 + N after signal N; empty before.
  std::optional<int> ended();
  /// Why the process ended with a nonzero code; empty if a signal ended it.
  std::vector<Problem> problems() const;
  void stop();  ///< tells the process, once, to save its state and exit

 private:
  std::filesystem::path problems_;
  pid_t process_ = 0;  ///< 0 once it has ended
  bool asked_ = false;
};

}  // namespace lagtape::sweep
