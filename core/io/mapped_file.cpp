#include "lagtape/core/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lagtape/core/error.h"

namespace lagtape {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto refuse = [&](const char* why) {
    throw InputError({path.string()}, Rule::cannot_read, text_of("cannot read: ", why));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // waits for no writer
  if (file < 0) refuse(std::strerror(errno));
  struct stat status = {};
  const bool is_regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (is_regular && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  }
  const int error = errno;
  ::close(file);
  if (!is_regular) refuse("not a regular file");
  if (memory_ == MAP_FAILED) refuse(std::strerror(error));
}

MappedFile::~MappedFile() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

}  // namespace lagtape
