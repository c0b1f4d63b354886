#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

TEST_CASE("an unknown task is refused with the nearest name") {
  const std::string message = input_error_of([] { task_from(R"({"task": "mackey_glas"})"); });
  CHECK(has(message, "/data/task"));
  CHECK(has(message, "'mackey_glass'"));
}

TEST_CASE("unknown and wrong options of a task are refused together, each with its place") {
  const std::string message = input_error_of(
      [] { task_from(R"({"task": "mackey_glass", "trian": 3, "valid": -1, "test": "all"})"); });
  for (const char* part : {"/data/trian", "'train'", "/data/valid", "/data/test"}) {
    CAPTURE(part);
    CHECK(has(message, part));
  }
}

TEST_CASE("filled options read back to themselves") {
  for (const char* text :
       {R"({"task": "adding"})",
        R"({"task": "adding", "fresh": false})",
        R"({"task": "mackey_glass"})",
        R"({"task": "audio", "input": "x.wav", "target": "y.wav", "overlap": 9})",
        R"({"task": "copy", "blanks": 3})",
        R"({"task": "dde_response", "equation": "tanh", "tau": 0})",
        R"({"task": "enso", "half_step": "held"})",
        R"({"task": "fitzhugh_nagumo", "rtol": 1e-10})",
        R"({"task": "frequency", "noise": 0.1})",
        R"({"task": "lorenz96", "F": 0.9})",
        R"({"task": "mnist", "path": "x"})",
        R"({"task": "imdb", "path": "x"})",
        R"({"task": "series", "path": "x", "window": 3})",
        R"({"task": "arrays", "path": "x"})",
        R"({"task": "ptb", "path": "x"})",
        R"({"task": "speech_commands", "path": "x"})",
        R"({"task": "har2", "path": "x"})",
        R"({"task": "scifar", "path": "x"})",
        R"({"task": "ncifar", "path": "x"})",
        R"({"task": "sequences", "path": "x", "sequence": "id", "input": ["a"], "target": "b"})",
        R"({"task": "ts", "path": "x"})",
        R"({"task": "ts", "path": "x", "split": "sklearn", "valid": 0.2})",
        R"({"task": "series", "path": "x", "window": 3, "input": ["a", 1], "target": [0]})",
        R"({"task": "random", "length": 3, "input": 2, "output": 1})",
        R"({"task": "random", "length": 3, "input": 2, "classes": 5, "lengths": "random"})"}) {
    CAPTURE(text);
    const Json filled = task_from(text).filled;
    CHECK(task_from(filled.dump()).filled == filled);
  }
}

TEST_CASE("what is to be scored are all sequences, each as in its split") {
  const std::string text =
      R"({"task": "random", "length": 9, "lengths": "random", "input": 2, "classes": 7, "train": 5, "valid": 0, "test": 4})";
  const Task task = load(text), all = load_to_score(text);
  REQUIRE(all.test->size() == 9);
  for (std::int64_t i = 0; i < 9; ++i) {
    const Batch expected = i < 5 ? take(*task.train, i, 1) : take(*task.test, i - 5, 1);
    const Batch found = take(*all.test, i, 1);
    CHECK(all.test->length(i) == expected.lengths[0]);
    CHECK(values_of(found.x) == values_of(expected.x));
    CHECK(found.classes == expected.classes);
  }
  CHECK_THROWS_AS(load_to_score(R"({"task": "adding"})"), Error);
}

TEST_CASE("every task documents itself") {
  const Json nothing = Json::object();
  for (const TaskEntry& entry : tasks()) {
    CAPTURE(entry.name);
    JsonErrors errors;
    JsonReader reader(nothing, "", errors);
    entry.read(reader, {});
    CHECK(reader.documentation().size() >= 3);
    CHECK_FALSE(entry.summary.empty());
    CHECK_FALSE((entry.files.empty() && entry.equations.empty()));
    const auto documented = reader.documentation();
    const bool reads_files = std::any_of(documented.begin(), documented.end(), [](const OptionDoc& option) {
      return option.key == "path" || has(option.about, "the file of the ");
    });
    CHECK(entry.files.empty() != reads_files);
  }
}
