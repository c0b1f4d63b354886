#include "lagtape/core/problem.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <type_traits>

#include "lagtape/core/error.h"

using namespace lagtape;

TEST_CASE("The text of a problem begins with its place") {
  const Problem wrong{.rule = Rule::wrong_type, .found = "'x'", .expected = "a number"};
  const auto at = [&](const Place& place) { return to_string(wrong.within(place)); };
  CHECK(at({}) == "expected a number, got 'x'");
  CHECK(at({.file = "a.json", .pointer = "/train/epochs"}) ==
        "a.json: /train/epochs: expected a number, got 'x'");
  CHECK(at({.file = "a.csv", .line = 3, .column = 2}) ==
        "a.csv: line 3, column 2: expected a number, got 'x'");
  CHECK(at({.file = "a.csv", .line = 3, .column = 2, .item = "load"}) ==
        "a.csv: line 3, column 2 (load): expected a number, got 'x'");
  CHECK(at({.pointer = "/units"}) == "/units: expected a number, got 'x'");
  CHECK(at({.pointer = "/step/0", .item = "equation 1"}) == "equation 1: expected a number, got 'x'");
  CHECK(at({.file = "a", .column = 5}) == "a: column 5: expected a number, got 'x'");
  CHECK(at({.column = 5, .item = "equation 1", .excerpt = "y = 'x'"}) ==
        "equation 1, column 5: expected a number, got 'x'. In: y = 'x'");
  CHECK(at({.op = "predict"}) == "[predict] expected a number, got 'x'");
  CHECK(at({.file = "run", .op = "predict"}) == "run: expected a number, got 'x'");
}

TEST_CASE("The operation that an excerpt names stays with it, in a file and in a call") {
  const Problem product{
      .place = {.op = "@"}, .rule = Rule::shape, .statement = "a matrix multiplies a vector"};
  CHECK(to_string(product) == "[@] a matrix multiplies a vector");
  const Problem in_equation =
      product.within({.column = 7, .item = "equation 2", .excerpt = "U @ W", .op = "@"});
  const std::string text = "equation 2, column 7: [@] a matrix multiplies a vector. In: U @ W";
  CHECK(to_string(in_equation) == text);
  CHECK(to_string(in_equation.within({.file = "a.json"})) == "a.json: " + text);
  CHECK(to_string(in_equation.within({.op = "cell"})) == text);
  CHECK(to_string(product.within({.file = "run"})) == "run: a matrix multiplies a vector");
}

TEST_CASE("An unexpected value has its place, its rule, and both sides") {
  const Problem problem =
      unexpected({.item = "x", .op = "predict"}, Rule::shape, "[T, 3]", "[4]", "Pad it.").problems().front();
  CHECK(problem.rule == Rule::shape);
  CHECK(problem.expected == "[T, 3]");
  CHECK(problem.found == "[4]");
  CHECK(to_string(problem) == "[predict] x: expected [T, 3], got [4]. Pad it.");
  CHECK(to_string(unexpected({"stdin"}, Rule::missing, "a line", "none").problems()) ==
        "stdin: expected a line, got none");
}

TEST_CASE("The message of a problem is made of its rule and its fields") {
  CHECK(message_of({.rule = Rule::missing}) == "is missing");
  CHECK(message_of({.rule = Rule::missing, .expected = "a string"}) == "is missing, expected a string");
  CHECK(message_of({.statement = "too few rows", .found = "3", .hint = "Give more."}) ==
        "too few rows. Got 3. Give more.");
  CHECK(message_of({.statement = "a path?", .hint = "Give one."}) == "a path? Give one.");
  CHECK(message_of({.rule = Rule::shape, .statement = "x has 3 columns", .expected = "4"}) ==
        "x has 3 columns, expected 4");
  CHECK(
      message_of(
          {.rule = Rule::unknown_name, .statement = "key", .found = "epochs", .nearest = "/train/epochs"}) ==
      "unknown key 'epochs'; did you mean /train/epochs?");
}

TEST_CASE("Problems keep their fields inside of larger places") {
  const Problem inner = unknown_name("parameter", "W9", {"W1"}).within({.pointer = "/init/W9"});
  const Problem outer = inner.within({.file = "a.json", .pointer = "/model/layers/0"});
  CHECK(outer.place.file == "a.json");
  CHECK(outer.place.pointer == "/model/layers/0/init/W9");
  CHECK(outer.found == "W9");
  CHECK(outer.expected == "W1");
  CHECK(outer.nearest == "W1");

  const Problem of_other_file = outer.within({.file = "b.json", .pointer = "/train/init"});
  CHECK(of_other_file.place.pointer == "/train/init");
  CHECK(of_other_file.rule == Rule::unknown_name);
  CHECK(to_string(of_other_file) == "b.json: /train/init: " + to_string(outer));
}

TEST_CASE("No name breaks, cuts or turns a message") {
  const std::string name("a\nlagtape: forged \0b\u202e", 23);
  const Problem problem{
      .place = {.file = name, .item = name}, .statement = name, .found = name, .hint = name};
  const std::string escaped = "a\\nlagtape: forged \\x00b\\u202e";
  CHECK(to_string(problem) ==
        text_of(escaped, ": ", escaped, ": ", escaped, ". Got ", escaped, ". ", escaped));
  CHECK(std::string(InputError(problem).what()) == to_string(problem));
  CHECK(problem.place.file == name);  // fields are data
}

TEST_CASE("An error has a line for each problem, and its copies share them") {
  const InputError error({Problem{.statement = "one"}, Problem{.statement = "two"}});
  CHECK(std::string(error.what()) == "one\ntwo");
  const InputError copy = error;
  CHECK(&copy.problems() == &error.problems());
  CHECK(std::string(error.within({"f"}).with_hint("Do it.").what()) == "f: one\nf: two. Do it.");
  CHECK(std::string(error.with_hint("").what()) == error.what());
  static_assert(!std::is_constructible_v<InputError, std::string>, "an error has a rule");
}

TEST_CASE("Every rule has its own name") {
  std::set<std::string_view> names;
  for (int rule = 0; rule <= static_cast<int>(Rule::interrupted); ++rule) {
    const std::string_view name = name_of(static_cast<Rule>(rule));
    CHECK(!name.empty());
    CHECK(names.insert(name).second);
    CHECK(rule_named(name) == static_cast<Rule>(rule));
  }
  CHECK(name_of(Rule::interrupted) == "interrupted");
  CHECK(rule_named("nonsense") == Rule::other);
}

TEST_CASE("A misspelt name finds the name that was meant") {
  const std::vector<std::string> known = {"epochs", "batch", "learning_rate"};
  CHECK(nearest_name("epohcs", known) == "epochs");
  CHECK(nearest_name("tua", {"mu", "tau"}) == "tau");
  CHECK(nearest_name("Batch", known) == "batch");
  CHECK(nearest_name("batches", known) == "batch");
  CHECK(nearest_name("learningrate", known) == "learning_rate");
  CHECK(nearest_name("batch_size_of_training", known) == "batch");
  CHECK(nearest_name("last", {"every_step", "last_step"}) == "last_step");
  CHECK(nearest_name("lea", {"leaf_size_of_all"}).empty());
}

TEST_CASE("A name that is like none of the known ones has no nearest") {
  CHECK(nearest_name("momentum", {"epochs", "batch"}).empty());
  CHECK(nearest_name("x", {"y", "z"}).empty());
  CHECK(nearest_name("", {"y"}).empty());
  CHECK(nearest_name("epochs", {}).empty());
  CHECK(nearest_name(std::string(100000, 'a'), {std::string(100000, 'b')}).empty());
}

TEST_CASE("An unknown name is reported with the nearest and all known ones") {
  const auto text = [](const char* name, const std::vector<std::string>& known) {
    return to_string(unknown_name("cell", name, known));
  };
  CHECK(text("tau_grx", {"tau_gru", "lem"}) ==
        "unknown cell 'tau_grx'; did you mean 'tau_gru'? Known: tau_gru, lem");
  CHECK(text("foo", {"tau_gru", "lem"}) == "unknown cell 'foo'. Known: tau_gru, lem");
  CHECK(text("foo", {}) == "unknown cell 'foo'. Known: none");
  CHECK(text("a\x1b", std::vector<std::string>(3000, "name")).size() < 1000);
}
