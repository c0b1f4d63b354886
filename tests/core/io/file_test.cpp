#include "lagtape/core/io/file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "lagtape/core/error.h"
#include "lagtape/tests/core/support/temporary_folder.h"

using namespace lagtape;
namespace fs = std::filesystem;

namespace {

/// The message of the Error that `write` throws while no file may be larger than so many bytes.
template <class Write>
std::string message_with_largest_file(rlim_t bytes, Write write) {
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {.rlim_cur = bytes, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write();
  } catch (const InputError&) {
    message = "the user is blamed";
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  return message;
}

}  // namespace

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
  const std::string message = message_with_largest_file(
      1000, [&] { write_file_atomically(folder / "a", std::string(100'000, 'x')); });
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

TEST_CASE("A device or a pipe is not read: it could be without end") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_file(pipe), (pipe + ": cannot read: not a regular file").c_str(), InputError);
  CHECK_THROWS_WITH_AS(read_file("/dev/zero"), "/dev/zero: cannot read: not a regular file", InputError);
}

TEST_CASE("A link is not followed where it may be a stranger's") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "target", "old");
  fs::create_symlink(folder / "target", folder / "link");
  const std::string link = folder / "link";
  CHECK(read_file(link) == "old");
  CHECK_THROWS_WITH_AS(read_file(link, Links::refused), (link + ": cannot read: it is a link").c_str(),
                       InputError);
  CHECK_THROWS_WITH_AS(write_file_atomically(link, "new", Links::refused),
                       (link + ": cannot write: it is a link").c_str(), InputError);
  CHECK_THROWS_WITH_AS(append_to_file(link, "new"), (link + ": cannot write: it is a link").c_str(),
                       InputError);
  CHECK(read_file(folder / "target", Links::refused) == "old");
  CHECK(folder.size() == 2);
}

TEST_CASE("A file grows by what is appended, or not at all") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(append_to_file(folder / "a", "x"), InputError);
  write_file_atomically(folder / "a", "one\n");
  append_to_file(folder / "a", "two\n");
  CHECK(read_file(folder / "a") == "one\ntwo\n");
  CHECK(message_with_largest_file(1000, [&] { append_to_file(folder / "a", std::string(100'000, 'x')); }) ==
        (folder / "a").string() + ": cannot write: File too large");
  CHECK(read_file(folder / "a") == "one\ntwo\n");
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

TEST_CASE("A text with holes is refused before it is read") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "text.json";
  write_file_atomically(file, "{\"a\": 1}");
  CHECK(read_text(file) == "{\"a\": 1}");
  fs::resize_file(file, std::uintmax_t{1} << 40);  // a terabyte, which no machine here could hold
  try {
    read_text(file);
    FAIL("a text of a terabyte of zeros was read");
  } catch (const InputError& error) {
    CHECK(error.problems().front().rule == Rule::cannot_read);
    CHECK(std::string(error.what()).find("zero bytes begin at byte ") != std::string::npos);
  }
}
