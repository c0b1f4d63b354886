#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <set>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

namespace fs = std::filesystem;

using Files = std::vector<std::pair<std::string, std::string>>;

/// Word counts in train/: the 6, good 3, bad 3, film 2, and a few words once.
const Files kReviews = {
    {"aclImdb/test/neg/0_2.txt", "The bad plot"},
    {"aclImdb/test/neg/1_1.txt", "bad"},
    {"aclImdb/test/pos/0_10.txt", "THE GOOD unseen unseen unseen unseen unseen unseen unseen"},
    {"aclImdb/test/pos/1_9.txt", "good"},
    {"aclImdb/train/neg/0_3.txt", "the bad bad bad film"},
    {"aclImdb/train/neg/1_3.txt", "the the"},
    {"aclImdb/train/pos/0_7.txt", "The good<br />film"},
    {"aclImdb/train/pos/1_8.txt", "the good good the"},
    {"aclImdb/train/unsup/0_0.txt", "plot plot plot plot plot plot plot plot plot plot"},
    {"aclImdb/imdb.vocab", "the"},
    {"aclImdb/train/urls_pos.txt", "http://example.org"},
};
const std::string kSizes = R"("train": 3, "valid": 1, "test": 4)";

std::string imdb(const std::string& more) { return R"({"task": "imdb", "path": ".", )" + more + "}"; }

}  // namespace

TEST_CASE("reviews are read as words numbered by how often training has them") {
  TemporaryFolder folder;
  write_samples(folder.path(), kReviews);
  const Task task = load(imdb(kSizes), 0, folder.path());
  CHECK(task.shape.classes == 2);
  CHECK(task.shape.input == 1);
  CHECK(task.shape.length == 9);
  CHECK(task.shape.tokens == 6);  // pad, unknown; the, bad, good, film
  const Batch batch = take(*task.test, 0, 4);
  CHECK(batch.lengths == std::vector<std::int64_t>{3, 9, 1, 1});
  CHECK(batch.classes == std::vector<std::int32_t>{0, 1, 0, 1});
  auto row = [&](std::int64_t r) {
    const auto values = values_of(batch.x);
    return std::vector<double>(values.begin() + 9 * r, values.begin() + 9 * (r + 1));
  };
  CHECK(row(0) == std::vector<double>{2, 3, 1, 0, 0, 0, 0, 0, 0});
  CHECK(row(1) == std::vector<double>{2, 4, 1, 1, 1, 1, 1, 1, 1});
  CHECK(row(3) == std::vector<double>{4, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("the archive as published gives what its folders give") {
  TemporaryFolder folder;
  write_samples(folder.path() / "unpacked", kReviews);
  Files stored = kReviews;
  std::reverse(stored.begin(), stored.end());
  write_sample(folder.path() / "aclImdb_v1.tar.gz", gzip(tar(stored)));
  auto everything = [&](const char* path) {
    const Task task =
        load(text_of(R"({"task": "imdb", "path": ")", path, "\", ", kSizes, "}"), 3, folder.path());
    std::vector<double> all;
    for (const Dataset* split : {task.train.get(), task.valid.get(), task.test.get()}) {
      const Batch batch = take(*split, 0, split->size());
      for (double v : values_of(batch.x)) all.push_back(v);
      for (std::int32_t c : batch.classes) all.push_back(c);
    }
    return all;
  };
  const auto unpacked = everything("unpacked");
  CHECK(unpacked.size() > 50);
  CHECK(everything("aclImdb_v1.tar.gz") == unpacked);
  CHECK(everything("unpacked/aclImdb") == unpacked);
}

TEST_CASE("positive reviews may outnumber negative ones") {
  TemporaryFolder folder;
  Files files = kReviews;
  files.emplace_back("aclImdb/test/pos/2_8.txt", "the film");
  files.emplace_back("aclImdb/train/neg/2_1.txt", "the");
  write_samples(folder.path(), files);
  const Task task = load(imdb(R"("train": 4, "valid": 1, "test": 5)"), 0, folder.path());
  CHECK(take(*task.test, 0, 5).classes == std::vector<std::int32_t>{0, 1, 0, 1, 1});
  CHECK(take(*task.test, 4, 1).lengths == std::vector<std::int64_t>{2});
}

TEST_CASE("words, letters and length of reviews are options") {
  TemporaryFolder folder;
  write_samples(folder.path(), kReviews);
  auto first = [&](const std::string& more) {
    return values_of(take(*load(imdb(kSizes + more), 0, folder.path()).test, 0, 1).x);
  };
  CHECK(first(R"(, "words": 1)") == std::vector<double>{2, 1, 1});
  CHECK(first(R"(, "length": 2)") == std::vector<double>{2, 3});
  CHECK(first(R"(, "lower": false)") == std::vector<double>{6, 3, 1});  // "The" once, after "film"
  CHECK(load(imdb(kSizes + R"(, "length": 2)"), 0, folder.path()).shape.length == 2);
}

TEST_CASE("words begin with the vectors of a file, padding and unknown words with zeros") {
  TemporaryFolder folder;
  write_samples(folder.path() / "reviews", kReviews);
  auto task = [&](const std::string& more) {
    return load(R"({"task": "imdb", "path": "reviews", )" + kSizes + more + "}", 0, folder.path());
  };
  CHECK(!task("").read_vectors);
  const Task with = task(R"(, "vectors": "glove.txt")");  // not opened yet
  write_sample(folder.path() / "glove.txt", "the 1 2\nfilm 3 4\nplot 5 6\nbad 7 8\n");
  Tensor table({with.shape.tokens, 2}, Dtype::f32);
  table.fill(100);
  const KnownWords words = with.read_vectors(table);
  CHECK(words.known == 3);
  CHECK(words.all == 4);
  CHECK(values_of(table) ==
        std::vector<double>{0, 0, 0, 0, 1, 2, 7, 8, 100, 100, 3, 4});  // the, bad, good, film
}

TEST_CASE("training and validation reviews share no review and change with the seed") {
  TemporaryFolder folder;
  write_samples(folder.path(), kReviews);
  std::set<std::int32_t> classes_of_valid;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Task task = load(imdb(kSizes), seed, folder.path());
    const Batch train = take(*task.train, 0, 3), valid = take(*task.valid, 0, 1);
    std::multiset<std::int64_t> lengths(train.lengths.begin(), train.lengths.end());
    lengths.insert(valid.lengths.begin(), valid.lengths.end());
    CHECK(lengths == std::multiset<std::int64_t>{2, 3, 4, 5});
    classes_of_valid.insert(valid.classes[0]);
  }
  CHECK(classes_of_valid.size() == 2);
}

TEST_CASE("the options of imdb are checked and filled in") {
  CHECK(task_from(R"({"task": "imdb", "path": "aclImdb"})").filled ==
        parse_json(R"({"task": "imdb", "path": "aclImdb", "words": 25000, "lower": true, "length": 0,
                       "valid": 3750, "train": 21250, "test": 25000})",
                   ""));
  CHECK(task_from(R"({"task": "imdb", "path": "aclImdb", "vectors": "glove.txt"})").filled["vectors"] ==
        "glove.txt");
  CHECK(has(input_error_of([] { task_from(imdb(R"("vectors": 3)")); }), "/data/vectors"));
  CHECK(has(input_error_of([] { task_from(R"({"task": "imdb"})"); }), "path"));
  CHECK(has(input_error_of([] { task_from(imdb(R"("words": 0)")); }), "/data/words"));
}

TEST_CASE("reviews that are missing, empty or too few are told") {
  auto message = [](const Files& files, const std::string& sizes = kSizes) {
    TemporaryFolder folder;
    write_samples(folder.path(), files);
    return input_error_of([&] { load(imdb(sizes), 0, folder.path()); });
  };
  CHECK(message(kReviews).empty());
  CHECK(has(message({kReviews.begin() + 4, kReviews.end()}), "no reviews in test/neg"));
  CHECK(has(message({kReviews.begin(), kReviews.begin() + 6}), "no reviews in train/pos"));
  Files empty = kReviews;
  empty[5].second = "<br /> \n";
  CHECK(has(message(empty), "aclImdb/train/neg/1_3.txt: the review contains no word"));
  CHECK(has(message(kReviews, R"("train": 4, "valid": 1, "test": 4)"),
            "contains 4 reviews for train and valid, expected at least 5"));
  CHECK(has(message(kReviews, R"("train": 3, "valid": 1)"),
            "contains 4 reviews for test, expected at least 25000"));
  TemporaryFolder folder;
  CHECK(has(input_error_of([&] { load(imdb(kSizes), 0, folder.path() / "nowhere"); }), "nowhere"));
}

TEST_CASE("the published reviews of IMDB are read" * doctest::test_suite("slow")) {
  const fs::path file = fs::path(__FILE__).parent_path() / "../../../../shared/data/imdb/aclImdb.tar.gz";
  if (!fs::exists(file)) {
    MESSAGE("skipped: no IMDB at ", file.lexically_normal().string());
    return;
  }
  const Task task = load(R"({"task": "imdb", "path": "aclImdb.tar.gz"})", 0, file.parent_path());
  CHECK(task.train->size() == 21250);
  CHECK(task.valid->size() == 3750);
  CHECK(task.test->size() == 25000);
  CHECK(task.shape.tokens == 25002);
  std::int64_t liked = 0;
  for (std::int32_t c : take(*task.test, 0, 1000).classes) liked += c;
  CHECK(liked == 500);
}
