#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lagtape::table {

/// This very program, run once more beside itself with other arguments. It is in a process group of its own,
/// so that a terminal's Ctrl-C reaches it through us alone, and is asked to stop when we end in whatever way.
class Child {
 public:
  /// Starts it; what it writes is added to `log`. Throws InputError when the log cannot be written, Error
  /// when the system has no process to give.
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  ///< stops it and waits for it

  /// Its exit code once it has ended, 128 + N after signal N.
  std::optional<int> ended();
  void stop();  ///< asks it, once, to save and end

 private:
  pid_t process_ = 0;  ///< 0 after its end
  bool asked_ = false;
};

}  // namespace lagtape::table
