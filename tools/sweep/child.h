#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/problem.h"

namespace lagtape::sweep {

/// A second process of this program with other arguments. It has a separate process group, so that Ctrl-C
/// in a terminal reaches it only through its parent, and it must stop when its parent ends in any way.
class Child {
 public:
  /// Starts the process and appends its output to `log`. If it fails, it writes its problems to the file beside that ends
  /// in .problems. Throws InputError when the log cannot be written, Error when the system cannot start a process.
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  ///< stops it and waits for it

  /// The exit code once the process has ended, 128 + N after signal N; empty before.
  std::optional<int> ended();
  /// Why the process ended with a code other than 0; empty where a signal ended it.
  std::vector<Problem> problems() const;
  void stop();  ///< tells the process, once, to save and end

 private:
  std::filesystem::path problems_;
  pid_t process_ = 0;  ///< 0 after its end
  bool asked_ = false;
};

}  // namespace lagtape::sweep
