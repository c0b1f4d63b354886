#include <doctest/doctest.h>

#include "lagtape/data/tasks/registry.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

/// Sequence `index` of a split of a task that the given number of threads generate: x, y and classes.
std::vector<double> sequence(const std::string& options, std::uint64_t seed, int threads, const char* split,
                             std::int64_t index) {
  ThreadPool pool(threads);
  const Task task = task_from("{" + options + "}").loader.load({.base = {}, .seed = seed, .pool = pool});
  const Batch batch = take(task.split(split), index, 1);
  std::vector<double> all = values_of(batch.x);
  if (batch.classes.empty()) {
    const std::vector<double> y = values_of(batch.y);
    all.insert(all.end(), y.begin(), y.end());
  }
  all.insert(all.end(), batch.classes.begin(), batch.classes.end());
  return all;
}

}  // namespace

TEST_CASE("seed, split and index decide a generated sequence, for any size of the set and any threads") {
  for (const std::string task :
       {R"("task": "adding", "length": 30, "fresh": false)", R"("task": "copy", "blanks": 5, "fresh": false)",
        R"("task": "dde_response", "span": 1, "random_shift": true)", R"("task": "enso", "length": 30)",
        R"("task": "fitzhugh_nagumo", "length": 30)", R"("task": "frequency", "length": 30, "noise": 0.1)",
        R"("task": "lorenz96", "length": 30)", R"("task": "mackey_glass", "length": 30)"}) {
    CAPTURE(task);
    const std::string small = task + R"(, "train": 3, "valid": 2, "test": 2)";
    const std::string large = task + R"(, "train": 9, "valid": 5, "test": 7)";
    for (const char* split : {"train", "valid", "test"}) {
      CHECK(sequence(small, 3, 1, split, 1) == sequence(large, 3, 3, split, 1));
      CHECK(sequence(small, 3, 1, split, 1) != sequence(small, 4, 1, split, 1));
      CHECK(sequence(small, 3, 1, split, 1) != sequence(small, 3, 1, split, 0));
    }
    CHECK(sequence(small, 3, 1, "train", 1) != sequence(small, 3, 1, "valid", 1));
    CHECK(sequence(small, 3, 1, "valid", 1) != sequence(small, 3, 1, "test", 1));
  }
}
