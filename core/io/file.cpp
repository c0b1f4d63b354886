#include "lagtape/core/io/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

namespace fs = std::filesystem;

/// A full or broken disk and too many open files are an Error: the user's input was not wrong.
[[noreturn]] void fail(const fs::path& path, const char* what, int error) {
  const std::string message = text_of("cannot ", what, ": ", std::strerror(error));
  const bool of_the_path = error == EACCES || error == EPERM || error == EROFS || error == ENOENT ||
                           error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG || error == ELOOP ||
                           error == ENXIO;
  const Rule rule = std::string_view(what) == "read" ? Rule::cannot_read : Rule::cannot_write;
  if (of_the_path) throw InputError({path.string()}, rule, message);
  throw Error(text_of(path.string(), ": ", message));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  operator int() const { return fd_; }
  /// Some file systems report a failed write only here.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

/// A file that is removed unless it was renamed.
struct Temporary {
  ~Temporary() {
    if (!path.empty()) ::unlink(path.c_str());
  }
  fs::path path;
};

[[noreturn]] void fail_as_link(const fs::path& path, const char* what) {
  throw InputError({path.string()}, Rule::cannot_write, text_of("cannot ", what, ": it is a link"));
}

// The file to replace: the target of a link, and never a device or a pipe.
fs::path resolve(const fs::path& path, Links links) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_link = fs::is_symlink(path, error);
  if (is_link && links == Links::refused) fail_as_link(path, "write");
  if (fs::is_directory(status)) fail(path, "write", EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError({path.string()}, Rule::cannot_write, "cannot write: not a regular file");
  }
  return is_link && fs::exists(status) ? fs::canonical(path) : path;
}

int open_temporary(const fs::path& path, Temporary& temporary) {
  for (int attempt = 0;; ++attempt) {
    const std::string whole = path.string(), last = path.filename().string();
    // As text: replace_filename in libstdc++ 12 may crash if memory runs out.
    const fs::path name(text_of(std::string_view(whole).substr(0, whole.size() - last.size()), ".", last, ".",
                                ::getpid(), ".", attempt, ".tmp"));
    temporary.path = name;  // before the file exists, since the copy needs memory
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
    temporary.path.clear();
    if (errno != EEXIST) return fd;
  }
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) fail(path, "write", errno);
    if (written > 0) bytes.remove_prefix(written);
  }
}

/// Opens a file to read it, and waits for no writer.
int open_to_read(const fs::path& path, Links links) {
  const int no_link = links == Links::refused ? O_NOFOLLOW : 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | no_link);
  if (file < 0 && errno == ELOOP && no_link != 0) fail_as_link(path, "read");
  if (file < 0) fail(path, "read", errno);
  return file;
}

/// The size of an open file. Throws if it is not a regular file.
std::size_t size_of(const Descriptor& file, const fs::path& path) {
  struct stat status;
  if (::fstat(file, &status) != 0) fail(path, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "read", EISDIR);
  if (!S_ISREG(status.st_mode))
    throw InputError({path.string()}, Rule::cannot_read, "cannot read: not a regular file");
  return static_cast<std::size_t>(status.st_size);
}

/// The size is a hint only: files of /proc have none, and files grow.
std::string read_all(const Descriptor& file, std::size_t size, const fs::path& path) {
  std::string bytes;
  std::size_t length = 0;
  try {
    bytes.resize(size + 1);
    for (;;) {
      const ssize_t got = ::read(file, bytes.data() + length, bytes.size() - length);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(path, "read", errno);
      if (got == 0) break;
      length += got;
      if (length == bytes.size()) bytes.resize(2 * length + 4096);
    }
  } catch (const std::bad_alloc&) {
    fail(path, "read", ENOMEM);
  } catch (const std::length_error&) {
    throw InputError({path.string()}, Rule::cannot_read, text_of("cannot read: ", std::strerror(EFBIG)));
  }
  bytes.resize(length);
  return bytes;
}

}  // namespace

void refuse_link(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(path, error))
    throw InputError({path.string()}, Rule::cannot_write,
                     "is a link. A run writes only files inside its folder.");
}

void remove_temporaries_of(const fs::path& file) {
  const std::string begin = text_of(".", file.filename().string(), ".");
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  // Without a std::filesystem::directory_iterator, whose begin terminates the program if memory runs out.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = entries != nullptr ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(begin) && name.ends_with(".tmp"))
      ::unlinkat(::dirfd(entries.get()), entry->d_name, 0);
  }
}

std::string read_file(const fs::path& path, Links links) {
  const Descriptor file(open_to_read(path, links));
  return read_all(file, size_of(file, path), path);
}

std::string read_text(const fs::path& path) {
  const Descriptor file(open_to_read(path, Links::followed));
  const std::size_t size = size_of(file, path);
  const off_t hole = ::lseek(file, 0, SEEK_HOLE);  // the end of the file counts as one
  if (hole >= 0 && static_cast<std::size_t>(hole) < size)
    throw InputError({path.string()}, Rule::cannot_read,
                     text_of("cannot read: a text was expected, and zero bytes begin at byte ", hole + 1));
  if (::lseek(file, 0, SEEK_SET) < 0) fail(path, "read", errno);
  return read_all(file, size, path);
}

void write_file_atomically(const fs::path& path, std::string_view bytes, Links links) {
  write_file_atomically(path, std::span(&bytes, 1), links);
}

void write_file_atomically(const fs::path& path, std::span<const std::string_view> parts, Links links) {
  const fs::path target = resolve(path, links);
  Temporary temporary;
  Descriptor file(open_temporary(target, temporary));
  if (file < 0) fail(path, "write", errno);

  struct stat old;
  if (::stat(target.c_str(), &old) == 0) ::fchmod(file, old.st_mode & 07777);  // a failure is harmless
  for (const std::string_view bytes : parts) write_all(file, bytes, path);
  if (::fsync(file) != 0 || file.close() != 0) fail(path, "write", errno);
  if (::rename(temporary.path.c_str(), target.c_str()) != 0) fail(path, "write", errno);
  temporary.path.clear();

  // The name is on disk once the folder is. Some file systems cannot sync one; the file is complete anyway.
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory >= 0) ::fsync(directory);
}

void append_to_file(const fs::path& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (file < 0 && errno == ELOOP) fail_as_link(path, "write");
  if (file < 0) fail(path, "write", errno);
  struct stat before;
  if (::fstat(file, &before) != 0) fail(path, "write", errno);
  if (!S_ISREG(before.st_mode))
    throw InputError({path.string()}, Rule::cannot_write, "cannot write: not a regular file");
  try {
    write_all(file, bytes, path);
    if (::fsync(file) != 0) fail(path, "write", errno);
  } catch (...) {
    // If this fails too, the reader drops the incomplete line.
    [[maybe_unused]] const int ignored = ::ftruncate(file, before.st_size);
    throw;
  }
  if (file.close() != 0) fail(path, "write", errno);
}

}  // namespace lagtape
