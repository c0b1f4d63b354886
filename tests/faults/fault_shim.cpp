// Lets one call of a program fail, as a disk or a memory does: loaded with LD_PRELOAD before the program's libraries.
//
//   LAGTAPE_FAULT_CALL   the kind of call: open, read, write, fsync, close, rename, unlink, truncate, stat, mmap, mprotect
//                        or new; for the last three, those after the program has opened a file below the root: before
//                        that, the parser of the command line allocates in functions that may not throw
//   LAGTAPE_FAULT_AT     which of these calls fails, from 1; 0: none, they are counted only
//   LAGTAPE_FAULT_ERROR  the number that errno gets; 0: a short read or write of half the bytes; -1: SIGKILL
//   LAGTAPE_FAULT_ROOT   files below this folder count alone
//   LAGTAPE_FAULT_CLOCK  not empty: whenever the program asks for the time of day, it is an hour earlier than the time before
//   LAGTAPE_FAULT_COUNT  the file to which every process adds the number of its calls at the end
//
// Only the program's own calls are seen, not those of a thread of a library that the program never waits for.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

namespace {

std::atomic<long> calls{0};
std::atomic<bool> has_begun{false};
bool watched[1024];

const char* text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

bool is_below_root(const char* path) {
  char absolute[4096] = "";
  const char* root = text("LAGTAPE_FAULT_ROOT");
  if (path[0] != '/') {
    if (::getcwd(absolute, sizeof(absolute) / 2) == nullptr) return false;
    std::strcat(absolute, "/");
  }
  std::strncat(absolute, path, sizeof(absolute) / 2 - 1);
  return root[0] != '\0' && std::strncmp(absolute, root, std::strlen(root)) == 0;
}

bool is_watched(int file) { return file >= 0 && file < 1024 && watched[file]; }

/// Whether this call is the one that fails; sets errno.
bool fails(const char* call) {
  if (std::strcmp(call, text("LAGTAPE_FAULT_CALL")) != 0) return false;
  if (++calls != std::atol(text("LAGTAPE_FAULT_AT"))) return false;
  const int error = std::atoi(text("LAGTAPE_FAULT_ERROR"));
  if (error < 0) ::kill(::getpid(), SIGKILL);
  errno = error;
  return true;
}

int opened(const char* path, int file) {
  const bool is_below = is_below_root(path);
  if (is_below) has_begun = true;
  if (file >= 0 && file < 1024) watched[file] = is_below;
  return file;
}

struct Report {
  ~Report() {
    const char* path = text("LAGTAPE_FAULT_COUNT");
    if (path[0] == '\0') return;
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
} report;

void* allocated(std::size_t size) {
  if (has_begun && fails("new")) throw std::bad_alloc();
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void* allocated(std::size_t size, std::align_val_t alignment) {
  if (has_begun && fails("new")) throw std::bad_alloc();
  const auto align = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(align, (size + align - 1) / align * align)) return memory;
  throw std::bad_alloc();
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (is_below_root(path) && fails("open")) return -1;
  return opened(path, next<int (*)(const char*, int, mode_t)>("open")(path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (is_below_root(path) && fails("open")) return -1;
  return opened(path, next<int (*)(const char*, int, mode_t)>("open64")(path, flags, mode));
}

ssize_t read(int file, void* bytes, size_t size) {
  const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  if (!is_watched(file) || !fails("read")) return real(file, bytes, size);
  return errno == 0 ? real(file, bytes, (size + 1) / 2) : -1;
}

ssize_t write(int file, const void* bytes, size_t size) {
  const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (!is_watched(file) || !fails("write")) return real(file, bytes, size);
  return errno == 0 ? real(file, bytes, (size + 1) / 2) : -1;
}

int fsync(int file) {
  if (is_watched(file) && fails("fsync")) return -1;
  return next<int (*)(int)>("fsync")(file);
}

int close(int file) {
  const bool fault = is_watched(file) && fails("close");
  const int error = errno;
  if (file >= 0 && file < 1024) watched[file] = false;
  const int result = next<int (*)(int)>("close")(file);
  if (!fault) return result;
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) {
  if (is_below_root(to) && fails("rename")) return -1;
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) {
  if (is_below_root(path) && fails("unlink")) return -1;
  return next<int (*)(const char*)>("unlink")(path);
}

int ftruncate(int file, off_t size) {
  if (is_watched(file) && fails("truncate")) return -1;
  return next<int (*)(int, off_t)>("ftruncate")(file, size);
}

int fstat(int file, struct stat* status) {
  if (is_watched(file) && fails("stat")) return -1;
  return next<int (*)(int, struct stat*)>("fstat")(file, status);
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  if (has_begun && fails("mmap")) return MAP_FAILED;
  return next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap")(at, size, protection, flags, file,
                                                                      offset);
}

int mprotect(void* at, size_t size, int protection) {
  if (has_begun && fails("mprotect")) return -1;
  return next<int (*)(void*, size_t, int)>("mprotect")(at, size, protection);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  static std::atomic<long> asked{0};
  const int result = next<int (*)(clockid_t, struct timespec*)>("clock_gettime")(clock, time);
  if (clock == CLOCK_REALTIME && text("LAGTAPE_FAULT_CLOCK")[0] != '\0') time->tv_sec -= 3600 * ++asked;
  return result;
}

}  // extern "C"

void* operator new(std::size_t size) { return allocated(size); }
void* operator new[](std::size_t size) { return allocated(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
