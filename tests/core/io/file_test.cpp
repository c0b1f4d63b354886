#include "lagtape/core/io/file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "lagtape/core/error.h"
#include "lagtape/tests/core/support/temporary_folder.h"

using namespace lagtape;
namespace fs = std::filesystem;

TEST_CASE("A file reads back as it was written, whatever its bytes and its size") {
  const TemporaryFolder folder;
  for (std::size_t size : {0, 1, 4096, 1'000'000}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
    write_file_atomically(folder / "a", bytes);
    CHECK(read_file(folder / "a") == bytes);
    CHECK(folder.size() == 1);
  }
}

TEST_CASE("A file that cannot be read is named with the reason") {
  const TemporaryFolder folder;
  const std::string missing = (folder / "missing").string();
  CHECK_THROWS_WITH_AS(read_file(missing), (missing + ": cannot read: No such file or directory").c_str(),
                       InputError);
  CHECK_THROWS_WITH_AS(read_file(folder.path()),
                       (folder.path().string() + ": cannot read: Is a directory").c_str(), InputError);
}

TEST_CASE("A write that fails leaves everything as it was") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(write_file_atomically(folder / "no/such", "x"), InputError);
  fs::create_directory(folder / "d");
  CHECK_THROWS_AS(write_file_atomically(folder / "d", "x"), InputError);
  CHECK(fs::is_directory(folder / "d"));
  write_file_atomically(folder / "f", "x");
  CHECK_THROWS_AS(write_file_atomically(folder / "f/below", "x"), InputError);
  CHECK(read_file(folder / "f") == "x");
  CHECK(folder.size() == 2);
}

TEST_CASE("A disk that is full half-way leaves the old file and no temporary") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "a", "old");
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write_file_atomically(folder / "a", std::string(100'000, 'x'));
  } catch (const InputError&) {
    message = "the user is blamed";
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(message == (folder / "a").string() + ": cannot write: File too large");
  CHECK(read_file(folder / "a") == "old");
  CHECK(folder.size() == 1);
}

TEST_CASE("A device or a pipe is not replaced by a file") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(write_file_atomically(folder / "pipe", "x"), InputError);
  CHECK(fs::is_fifo(folder / "pipe"));
  CHECK(folder.size() == 1);
}

TEST_CASE("A link keeps leading to its file, and a file keeps its permissions") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "target", "old");
  fs::permissions(folder / "target", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(folder / "target", folder / "link");
  write_file_atomically(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "target") == "new");
  CHECK(fs::status(folder / "target").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.size() == 2);
}

TEST_CASE("Somebody who holds the old file open goes on reading it whole") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "a", "old");
  std::FILE* const open = std::fopen((folder / "a").c_str(), "rb");
  write_file_atomically(folder / "a", "something new");
  char bytes[10] = {};
  CHECK(std::fread(bytes, 1, 10, open) == 3);
  CHECK(std::string(bytes) == "old");
  std::fclose(open);
}
