#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lagtape::sweep {

/// A second process of this program with other arguments. It has a process group of its own, so that Ctrl-C
/// in a terminal reaches it only through its parent, and it is asked to stop when its parent ends in any way.
class Child {
 public:
  /// Starts the process and appends its output to `log`. Throws InputError when the log cannot be written,
  /// Error when the system cannot start a process.
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  ///< stops it and waits for it

  /// The exit code once the process has ended, 128 + N after signal N; empty before.
  std::optional<int> ended();
  void stop();  ///< asks the process, once, to save and end

 private:
  pid_t process_ = 0;  ///< 0 after its end
  bool asked_ = false;
};

/// The size of a file in bytes, 0 when there is none.
std::size_t size_of(const std::filesystem::path& file);
/// The last message of the tool in a log, from a given offset on; empty when there is none.
std::string last_words(const std::filesystem::path& log, std::size_t from);

}  // namespace lagtape::sweep
