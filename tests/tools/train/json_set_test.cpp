#include "lagtape/tools/train/json_set.h"

#include <doctest/doctest.h>

using namespace lagtape;

namespace {

Json document() {
  return parse_json(
      R"({"train": {"epochs": 3}, "model": {"layers": [{"units": 4}, {"units": 5}]}, "name": "a"})", "test");
}

Json with(const std::string& assignment) {
  Json json = document();
  assign(json, assignment);
  return json;
}

}  // namespace

TEST_CASE("a value is set by pointer and by dots") {
  CHECK(with("/train/epochs=7")["train"]["epochs"] == 7);
  CHECK(with("train.epochs=7") == with("/train/epochs=7"));
  CHECK(with("model.layers.1.units=9")["model"]["layers"][1]["units"] == 9);
}

TEST_CASE("values are JSON where they parse and text where they do not") {
  CHECK(with("train.clip=1.5")["train"]["clip"] == 1.5);
  CHECK(with("train.memory={\"plan\": \"full\"}")["train"]["memory"]["plan"] == "full");
  CHECK(with("train.memory=states")["train"]["memory"] == "states");
  CHECK(with("name=a=b")["name"] == "a=b");
  CHECK(with("name=")["name"] == "");
}

TEST_CASE("objects on the way are made, keys with a slash are escaped") {
  CHECK(with("optimizer.lr=0.1")["optimizer"]["lr"] == 0.1);
  CHECK(with("/cells/a~1b~0c=1")["cells"]["a/b~c"] == 1);
}

TEST_CASE("what leads nowhere is refused with the assignment") {
  const auto refused = [](const std::string& assignment, const char* words) {
    CHECK_THROWS_WITH_AS(with(assignment), doctest::Contains(words), InputError);
    CHECK_THROWS_WITH_AS(with(assignment), doctest::Contains(assignment.c_str()), InputError);
  };
  refused("train.epochs", "KEY=VALUE");
  refused("=3", "KEY=VALUE");
  refused("/model/layers/2/units=2", "list of 2");
  refused("model.layers.first.units=2", "is not an element");
  refused("name.first=2", "is a string");
  refused("train..epochs=2", "empty key");
  refused("/train/e~2=2", "~0");
}
