#include "lagtape/tools/chart/chart_file.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/io/file.h"

namespace lagtape {

namespace {

constexpr const char* kProgram = "rsvg-convert";

bool is_installed() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + kProgram).c_str(), X_OK) == 0) return true;
  return false;
}

/// A file without a name that is gone when it is closed.
using ScratchFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

ScratchFile scratch_file() {
  ScratchFile file(std::tmpfile(), std::fclose);
  if (!file) throw Error(text_of("cannot make a temporary file: ", std::strerror(errno)));
  return file;
}

/// The output of the program for a chart.
std::string converted(const std::string& svg, const char* format) {
  const ScratchFile in = scratch_file(), out = scratch_file();
  if (std::fwrite(svg.data(), 1, svg.size(), in.get()) != svg.size() || std::fflush(in.get()) != 0)
    throw Error(text_of("cannot write a temporary file: ", std::strerror(errno)));
  std::rewind(in.get());
  std::string name = kProgram, form = text_of("--format=", format), zoom = "--zoom=2";
  // Pixels of a screen are small; a page has its own measure.
  char* arguments[] = {name.data(), form.data(), std::strcmp(format, "png") == 0 ? zoom.data() : nullptr,
                       nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in.get()), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), STDOUT_FILENO);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, kProgram, &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(text_of("cannot start ", kProgram, ": ", std::strerror(error)));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  std::string bytes;
  char buffer[1 << 16];
  std::rewind(out.get());
  while (const std::size_t read = std::fread(buffer, 1, sizeof(buffer), out.get()))
    bytes.append(buffer, read);
  if (status != 0 || bytes.empty()) throw Error(text_of(kProgram, " made no ", format, " of the chart"));
  return bytes;
}

}  // namespace

void require_chart_program(const std::string& option, const std::string& file) {
  const std::string ending = ending_of(file);
  if ((ending != ".png" && ending != ".pdf") || is_installed()) return;
  throw InputError({.item = option}, Rule::missing,
                   text_of(ending, " needs the program ", kProgram, ", which is not installed."), {},
                   "It is in Debian's package librsvg2-bin. A .svg needs nothing.");
}

void write_chart(const std::string& file, const Plot& plot) {
  require_chart_program(file, file);
  const std::string ending = ending_of(file);
  const bool is_drawn = ending == ".png" || ending == ".pdf";
  write_file_atomically(file, is_drawn ? converted(plot.svg(), ending.c_str() + 1) : plot.svg());
}

}  // namespace lagtape
