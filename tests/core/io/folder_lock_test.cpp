#include "lagtape/core/io/folder_lock.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "lagtape/tests/core/support/temporary_folder.h"

using namespace lagtape;

TEST_CASE("a folder is locked once at a time") {
  const TemporaryFolder folder, other;
  {
    const std::optional<FolderLock> first = FolderLock::at_once(folder.path());
    CHECK(first);
    CHECK(!FolderLock::at_once(folder.path()));
    CHECK(FolderLock::at_once(other.path()));
  }
  CHECK(FolderLock::at_once(folder.path()));
}

TEST_CASE("a lock that waits comes after the one that is held") {
  const TemporaryFolder folder;
  std::optional<FolderLock> first(folder.path());
  std::atomic<bool> given_back = false, in_time = false;
  std::thread waiting([&] {
    const FolderLock second(folder.path());
    in_time = given_back.load();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  given_back = true;
  first.reset();
  waiting.join();
  CHECK(in_time);
}

TEST_CASE("a folder that is not there is not locked") {
  const TemporaryFolder folder;
  CHECK(FolderLock::at_once(folder.path() / "gone"));
}
