#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

// The counts are "the" 3, end of line 3, "cat" 2, "<unk>" 1, "sat" 1, so the tokens are 1, 0 (a newline sorts
// first), 2, 3, 4.
const char* const kTrain = " the cat sat \n the <unk> \n the cat \n";

struct Samples {
  Samples(const std::string& train = kTrain, const std::string& valid = " the dog \n",
          const std::string& test = "cat sat\n") {
    write_samples(folder.path(),
                  {{"ptb.train.txt", train}, {"ptb.valid.txt", valid}, {"ptb.test.txt", test}});
  }
  Task task(const std::string& more = "", std::int64_t batch = 1) const {
    TaskHints hints;
    hints.batch = batch;
    return load(text_of(R"({"task": "ptb", "path": ".")", more, "}"), 0, folder.path(), hints);
  }
  TemporaryFolder folder;
};

std::vector<double> inputs(const Dataset& split) { return values_of(take(split, 0, split.size()).x); }
std::vector<std::int32_t> targets(const Dataset& split) { return take(split, 0, split.size()).classes; }

}  // namespace

TEST_CASE("words are numbered by frequency, and each is to be told from those before") {
  const Task task = Samples().task();
  CHECK(task.shape.tokens == 5);
  CHECK(task.shape.classes == 5);
  CHECK(task.shape.every_step);
  CHECK(task.shape.length == 9);
  CHECK(inputs(*task.train) == std::vector<double>{1, 2, 4, 0, 1, 3, 0, 1, 2});
  CHECK(targets(*task.train) == std::vector<std::int32_t>{2, 4, 0, 1, 3, 0, 1, 2, 0});
  CHECK(inputs(*task.valid) == std::vector<double>{1, 3});  // "dog" is unknown
  CHECK(targets(*task.test) == std::vector<std::int32_t>{4, 0});
}

TEST_CASE("the training text is cut into as many parallel streams as a batch has") {
  const Task task = Samples().task("", 2);
  CHECK(task.train->size() == 2);
  CHECK(task.train->length(1) == 4);
  CHECK(inputs(*task.train) == std::vector<double>{1, 2, 4, 0, 1, 3, 0, 1});
  CHECK(targets(*task.train) == std::vector<std::int32_t>{2, 4, 0, 1, 3, 0, 1, 2});
  CHECK(task.valid->size() == 1);
  const Task own = Samples().task(R"(, "streams": 3, "eval_streams": 2)", 2);
  CHECK(own.train->size() == 3);
  CHECK(own.test->size() == 2);
  CHECK(inputs(*own.test) == std::vector<double>{2, 4});
}

TEST_CASE("characters of the text are its trimmed lines and their ends") {
  const Task task = Samples(" ab a\n\na  \n", "b\n", "a b\n").task(R"(, "level": "char")");
  // The counts are end of line 3, "a" 3, " " 1, "b" 1, so the tokens are 0 the end, 1 "a", 2 " ", 3 "b".
  CHECK(inputs(*task.train) == std::vector<double>{1, 3, 2, 1, 0, 0, 1});
  CHECK(targets(*task.train) == std::vector<std::int32_t>{3, 2, 1, 0, 0, 1, 0});
  CHECK(inputs(*task.test) == std::vector<double>{1, 2, 3});
}

TEST_CASE("texts that are missing, too short or of another alphabet are told") {
  auto message = [](const Samples& samples, const std::string& more = "", std::int64_t batch = 1) {
    return input_error_of([&] { samples.task(more, batch); });
  };
  CHECK(message(Samples()).empty());
  CHECK(has(message(Samples(kTrain, "a\n", "x\ny\n"), R"(, "level": "char")"), "ptb.test.txt: line 1: 'x'"));
  CHECK(has(message(Samples("a b\n", "a\n", "b\nc\n")),
            "ptb.test.txt: line 2: 'c' is not in the training text"));
  CHECK(has(message(Samples(), "", 10), "ptb.train.txt: contains 10 tokens, expected more than 10"));
  CHECK(has(message(Samples("")), "contains 0 tokens"));
  CHECK(has(message(Samples(), R"(, "level": "letter")"), "/data/level"));
  const Samples samples;
  std::filesystem::remove(samples.folder.path() / "ptb.valid.txt");
  CHECK(has(message(samples), "ptb.valid.txt"));
}
