#include "lagtape/data/formats/word_vectors.h"

#include <doctest/doctest.h>

#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

const std::vector<std::string> kWords = {"the", "good", "unheard", "film"};
const std::string kVectors =
    "the 0.25 -1.5 3e-2\n"
    ", 1 2 3\n"
    "at the end 4 5 6\n"
    "film 7 8 9\n"
    " 1 2 3\n"
    "good 0 -0.5 10\n";

struct Found {
  std::int64_t known = 0;
  std::vector<double> rows;
};

/// The rows of the words in a table that begins with two other rows; all are filled with 100 before.
Found read(const std::filesystem::path& path, std::int64_t width = 3, Dtype dtype = Dtype::f64) {
  const std::int64_t rows = 2 + static_cast<std::int64_t>(kWords.size());
  Tensor table({rows, width}, dtype);
  table.fill(100);
  Found found{.known = read_word_vectors(path, kWords, 2, table), .rows = {}};
  for (std::int64_t i = 0; i < table.numel(); ++i) found.rows.push_back(table.at(i));
  return found;
}

/// The same rows, read from a text.
Found read_text(std::string_view text, std::int64_t width = 3) {
  const TemporaryFolder folder;
  write_sample(folder.path() / "glove.txt", text);
  return read(folder.path() / "glove.txt", width);
}

std::string refusal(std::string_view text, std::int64_t width = 3) {
  return input_error_of([&] { read_text(text, width); });
}

std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = static_cast<float>(value);
  return values;
}

const std::vector<double> kRows =
    rounded({100, 100, 100, 100, 100, 100, 0.25, -1.5, 3e-2, 0, -0.5, 10, 100, 100, 100, 7, 8, 9});

}  // namespace

TEST_CASE("words get their vectors, and rows of other tokens stay as they are") {
  const Found found = read_text(kVectors);
  CHECK(found.known == 3);
  CHECK(found.rows == kRows);
  const TemporaryFolder folder;
  write_sample(folder.path() / "glove.txt", kVectors);
  CHECK(read(folder.path() / "glove.txt", 3, Dtype::f32).rows == kRows);
}

TEST_CASE("lines may end as those of Windows, and the last one nowhere") {
  std::string text = kVectors;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, 1, '\r');
  CHECK(read_text(text).rows == kRows);
  text.resize(text.size() - 2);
  CHECK(read_text(text).rows == kRows);
}

TEST_CASE("the archives and folders that vectors come in give what the text gives") {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> files = {
      {"glove.6B.2d.txt", "the 1 2\n"}, {"glove.6B.3d.txt", kVectors}, {"glove.6B.300d.txt", "the 1\n"}};
  write_samples(folder.path() / "unpacked", files);
  write_sample(folder.path() / "glove.6B.zip", zip(files));
  write_sample(folder.path() / "glove.6B.tar.gz", gzip(tar(files)));
  write_sample(folder.path() / "glove.6B.3d.txt.gz", gzip(kVectors));
  for (const char* name : {"unpacked", "glove.6B.zip", "glove.6B.tar.gz", "glove.6B.3d.txt.gz"}) {
    CAPTURE(name);
    CHECK(read(folder.path() / name).rows == kRows);
  }
  for (const char* name : {"unpacked", "glove.6B.zip", "glove.6B.tar.gz"}) {
    CAPTURE(name);
    CHECK(read(folder.path() / name, 2).known == 1);
    CHECK(has(input_error_of([&] { read(folder.path() / name, 4); }),
              text_of(name, ": has no file *.4d.txt of vectors of 4 numbers")));
    CHECK(has(input_error_of([&] { read(folder.path() / name, 300); }), "glove.6B.300d.txt: line 1: "));
  }
}

TEST_CASE("a text of many blocks is read as one of few") {
  std::string text = "the 0.25 -1.5 3e-2\n";
  for (int i = 0; i < 50000; ++i) text += text_of("word", i, " ", i, " 0.", i, " -1\n");
  text += "film 7 8 9\ngood 0 -0.5 10\n";
  CHECK(read_text(text).rows == kRows);
  const TemporaryFolder folder;
  write_sample(folder.path() / "glove.gz", gzip(text));
  CHECK(read(folder.path() / "glove.gz").rows == kRows);
  CHECK(has(refusal(text + "good 1 2\n"),
            "line 50004: expected a word and 3 numbers, as in the first line, got 3 fields"));
}

TEST_CASE("the first vector of a repeated word counts") {
  const Found found = read_text(kVectors + "the 5 5 5\n");
  CHECK(found.known == 3);
  CHECK(found.rows == kRows);
}

TEST_CASE("vectors that are wrong are told with their line") {
  const auto with = [](const std::string& line) { return kVectors + line; };
  CHECK(has(refusal(kVectors, 50),
            "glove.txt: line 1: expected a word and 50 numbers, the units of the model's embedding, got a "
            "word and 3"));
  CHECK(has(refusal("400000 3\nthe 1 2 3\n"), "line 1: expected a word and 3 numbers"));
  CHECK(has(refusal(with("bad 1 2\n")),
            "glove.txt: line 7: expected a word and 3 numbers, as in the first line, got 3 fields"));
  CHECK(has(refusal(with("bad 1 2 3 4\n")),
            "line 7: expected a word and 3 numbers, as in the first line, got 5 fields"));
  CHECK(has(refusal(with("\n")), "got 1 fields"));
  CHECK(has(refusal(with("bad 1 2x 3\n")), "line 7: expected a finite number, got '2x'"));
  CHECK(has(refusal(with("bad 1 2 nan\n")), "line 7: expected a finite number, got 'nan'"));
  CHECK(has(refusal(with("bad 1 inf 3\n")), "line 7: expected a finite number, got 'inf'"));
  CHECK(has(refusal(with("bad 1 1e99 3\n")), "line 7: expected a finite number, got '1e99'"));
  CHECK(has(refusal(with("bad 1  3\n")), "line 7: expected a finite number, got ''"));
  CHECK(has(refusal(with(std::string(2 << 20, 'x'))), "got more than 1048576 bytes"));
}

TEST_CASE("files without a vector of use are told") {
  CHECK(has(refusal("The 1 2 3\nFILM 1 2 3\n"), "glove.txt: has none of the 4 words of the data"));
  CHECK(has(refusal(""), "glove.txt: expected a line a word, got an empty file"));
  const TemporaryFolder folder;
  CHECK(has(input_error_of([&] { read(folder.path() / "gone.txt"); }), "gone.txt: no such file or folder"));
  const std::string damaged = gzip(kVectors);
  write_sample(folder.path() / "damaged.gz", damaged.substr(0, damaged.size() - 5));
  CHECK(has(input_error_of([&] { read(folder.path() / "damaged.gz"); }), "damaged.gz"));
}
