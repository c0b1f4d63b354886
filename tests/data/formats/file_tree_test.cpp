#include "lagtape/data/formats/file_tree.h"

#include <doctest/doctest.h>

#include <map>

#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

const std::vector<std::pair<std::string, std::string>> kFiles = {
    {"top/b/2.txt", std::string(200000, 'b')}, {"top/a/1.txt", "one"}, {"top/skip.bin", "no"}};

FileWish texts(std::int64_t largest = 1 << 20) {
  return {.wanted = [](std::string_view name) { return name.ends_with(".txt"); }, .largest = largest};
}

std::map<std::string, std::string> read_all(const std::filesystem::path& path,
                                            const FileWish& wish = texts()) {
  std::map<std::string, std::string> found;
  read_files(path, wish, [&](const std::string& name, std::string bytes) { found[name] = std::move(bytes); });
  return found;
}

}  // namespace

TEST_CASE("wanted files are read from a folder, a tar and a tar.gz alike") {
  TemporaryFolder folder;
  const auto& root = folder.path();
  write_samples(root / "plain", kFiles);
  write_sample(root / "files.tar", tar(kFiles));
  write_sample(root / "files.tar.gz", gzip(tar(kFiles)));
  const std::map<std::string, std::string> expected = {{"top/a/1.txt", "one"},
                                                       {"top/b/2.txt", std::string(200000, 'b')}};
  for (const char* name : {"plain", "files.tar", "files.tar.gz"}) {
    CAPTURE(name);
    CHECK(read_all(root / name) == expected);
  }
}

TEST_CASE("a file that is larger than wished is refused before it is read") {
  TemporaryFolder folder;
  const auto& root = folder.path();
  write_samples(root / "plain", kFiles);
  write_sample(root / "files.tar.gz", gzip(tar(kFiles)));
  for (const char* name : {"plain", "files.tar.gz"}) {
    const std::string message = input_error_of([&] { read_all(root / name, texts(1000)); });
    CHECK(has(message, "top/b/2.txt: expected at most 1000 bytes, got 200000"));
    CHECK(has(message, (root / name).string()));
  }
}

TEST_CASE("an archive that is damaged or cut short is refused wherever that is") {
  TemporaryFolder folder;
  const auto path = folder.path() / "files.tar.gz";
  const std::string sound = gzip(tar(kFiles));
  auto message = [&](const std::string& bytes) {
    write_sample(path, bytes);
    return input_error_of([&] { read_all(path); });
  };
  CHECK(message(sound).empty());
  for (std::size_t keep : {sound.size() - 1, sound.size() / 2, std::size_t{12}, std::size_t{2}}) {
    CAPTURE(keep);
    CHECK(has(message(sound.substr(0, keep)), path.string()));
  }
  std::string other_checksum = sound;
  other_checksum[sound.size() - 8] ^= 1;
  CHECK(has(message(other_checksum), "not a sound gzip file: incorrect data check."));
}

TEST_CASE("what is neither a folder nor an archive is refused") {
  TemporaryFolder folder;
  CHECK(has(input_error_of([&] { read_all(folder.path() / "nowhere"); }), "nowhere: no such file or folder"));
  write_sample(folder.path() / "note", "just a text, and no archive");
  CHECK(has(input_error_of([&] { read_all(folder.path() / "note"); }), "not a sound tar or zip archive"));
  CHECK(has(input_error_of([&] { read_all("/dev/null"); }), "neither a folder nor a file"));
}

TEST_CASE("one file is streamed in pieces from wherever it lies") {
  TemporaryFolder folder;
  const auto& root = folder.path();
  const std::string text(200000, 'b');
  write_samples(root / "plain", kFiles);
  write_sample(root / "files.zip", zip(kFiles));
  write_sample(root / "files.tar.gz", gzip(tar(kFiles)));
  write_sample(root / "alone", text);
  write_sample(root / "alone.gz", gzip(text));
  write_sample(root / "empty", "");
  std::string found, from;
  int pieces = 0;
  auto stream = [&](const char* name, const char* wanted) {
    found = from = "", pieces = 0;
    return stream_file(
        root / name, [&](std::string_view file) { return file.ends_with(wanted); },
        [&](const std::string& file, std::string_view piece) { found += piece, from = file, ++pieces; });
  };
  for (const char* name : {"plain", "files.zip", "files.tar.gz"}) {
    CAPTURE(name);
    CHECK(stream(name, "2.txt"));
    CHECK(found == text);
    CHECK(pieces > 1);
    CHECK(from == "top/b/2.txt");
    CHECK(!stream(name, "3.txt"));
    CHECK(pieces == 0);
  }
  for (const char* name : {"alone", "alone.gz"}) {
    CAPTURE(name);
    CHECK(stream(name, "3.txt"));
    CHECK(found == text);
    CHECK(pieces > 1);
    CHECK(from.empty());
  }
  CHECK(stream("empty", "3.txt"));
  CHECK(pieces == 0);
  CHECK(has(input_error_of([&] { stream("gone", "3.txt"); }), "gone: no such file"));
}
