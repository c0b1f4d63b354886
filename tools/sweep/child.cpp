#include "lagtape/tools/sweep/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/json/problem_json.h"

namespace lagtape::sweep {

namespace {

constexpr const char* kThisProgram = "/proc/self/exe";  ///< valid even after the file was replaced
constexpr int kCannotStart = 127;

/// A file descriptor that is closed at the end of its scope.
struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// Blocks SIGINT and SIGTERM, so that one meant for the new process is not lost in this process's handler.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &before_);
  }
  ~HeldSignals() { release(); }
  void release() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Runs in the new process between fork and exec, where only system calls are allowed.
[[noreturn]] void become(char* const* arguments, int input, int output, pid_t parent,
                         const HeldSignals& signals) {
  ::setpgid(0, 0);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  signals.release();
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotStart);
#endif
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(kThisProgram, arguments);
  ::_exit(kCannotStart);
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments, const std::filesystem::path& log)
    : problems_(log.string() + ".problems") {
  const Descriptor output{::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666)};
  if (output.number < 0 && errno == ELOOP)
    throw InputError({log.string()}, Rule::cannot_write, "cannot write: it is a link");
  if (output.number < 0)
    throw InputError({log.string()}, Rule::cannot_write, text_of("cannot write: ", std::strerror(errno)));
  const Descriptor input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  std::vector<std::string> words{"lagtape"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--problems", problems_.string()});
  std::error_code not_there;
  std::filesystem::remove(problems_, not_there);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const HeldSignals signals;
  process_ = ::fork();
  if (process_ < 0) throw Error(text_of("cannot start a process: ", std::strerror(errno)));
  if (process_ == 0) become(pointers.data(), input.number, output.number, parent, signals);
}

Child::Child(Child&& other) noexcept
    : problems_(std::move(other.problems_)),
      process_(std::exchange(other.process_, 0)),
      asked_(other.asked_) {}

Child::~Child() {
  if (process_ == 0) return;
  stop();
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::optional<int> Child::ended() {
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
  process_ = 0;
  return code_of(status);
}

std::vector<Problem> Child::problems() const {
  if (!std::filesystem::exists(problems_)) return {};
  return problems_in(read_json(problems_), problems_.string());
}

void Child::stop() {
  if (process_ != 0 && !asked_) ::kill(process_, SIGTERM);
  asked_ = true;
}

}  // namespace lagtape::sweep
