#include "lagtape/core/json/problem_json.h"

#include <doctest/doctest.h>

using namespace lagtape;

TEST_CASE("Problems are written as JSON and read again") {
  const std::vector<Problem> problems = {
      {.place = {.file = "a.json",
                 .line = 3,
                 .column = 2,
                 .pointer = "/cells/mine/step/0",
                 .item = "equation 1",
                 .excerpt = "h' = g",
                 .op = "cell"},
       .rule = Rule::out_of_range,
       .statement = "too large",
       .found = "9",
       .expected = "at most 8",
       .hint = "Give less.",
       .nearest = "8"},
      unknown_name("key", "btach", {"batch"}),
  };
  const Json json = json_of(problems);
  const Json& first = json.at("problems").at(0);
  CHECK(first.at("rule") == "out_of_range");
  CHECK(first.at("message") == message_of(problems[0]));
  CHECK(first.at("place").at("line") == 3);
  CHECK(json.at("problems").at(1).at("place").empty());
  CHECK(json.at("problems").at(1).at("hint").is_null());
  CHECK(json.at("problems").at(1).at("nearest") == "batch");

  const std::vector<Problem> read = problems_in(Json::parse(json.dump()), "a.json");
  REQUIRE(read.size() == 2);
  CHECK(to_string(read) == to_string(problems));
  CHECK(read[0].place.op == "cell");
  CHECK(read[0].place.pointer == problems[0].place.pointer);
  CHECK(read[0].rule == Rule::out_of_range);
  CHECK(read[0].nearest == "8");
  CHECK(json_of(read) == json);
}

TEST_CASE("Bytes that are no text are escaped") {
  const Json json = json_of(std::vector<Problem>{{.place = {"a\xff"}, .found = "\x80"}});
  CHECK(json.at("problems").at(0).at("place").at("file") == "a\\xff");
  CHECK(json.at("problems").at(0).at("found") == "\\x80");
}

TEST_CASE("Problems that are none name their file") {
  for (const char* text : {"[]", "{}", R"({"problems": 3})", R"({"problems": [{"rule": "shape"}]})",
                           R"({"problems": [{"place": {"file": 3}, "rule": "shape"}]})"}) {
    CAPTURE(text);
    try {
      problems_in(Json::parse(text), "run.problems");
      FAIL("no error");
    } catch (const InputError& error) {
      CHECK(error.problems().front().place.file == "run.problems");
    }
  }
}
