#include "lagtape/cells/build/param_definition.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

ParamDefinition param_of(const std::string& json) {
  JsonErrors errors;
  const ParamDefinition param = read_param(parse_json(json, "test"), "/cells/mine/params/a", errors);
  errors.raise("e.json");
  return param;
}

std::string error_of(const std::string& json) {
  try {
    param_of(json);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("the scale of a param follows from its bounds unless it is given") {
  CHECK(param_of("0.9").bounds() == Bounds{});
  CHECK(param_of("0.9").start == 0.9);
  CHECK(param_of(R"({"start": 17, "min": 5, "max": 40})").bounds() == Bounds{5, 40, Scale::logit});
  CHECK(param_of(R"({"start": 17, "min": 0})").bounds().scale == Scale::log);
  CHECK(param_of(R"({"start": 17, "min": 1})").bounds().scale == Scale::linear);
  CHECK(param_of(R"({"start": 17, "max": 40})").bounds().scale == Scale::linear);
  CHECK(param_of(R"({"start": 5, "min": 5, "max": 40, "scale": "linear"})").bounds().scale == Scale::linear);
  CHECK(param_of(R"({"start": 0.1, "scale": "log"})").bounds().scale == Scale::log);
  const ParamDefinition rest = param_of(R"({"start": 1, "train": false, "size": 3, "unit": "1/day"})");
  CHECK_FALSE(rest.train);
  CHECK(rest.size == "3");
  CHECK(rest.unit == "1/day");
}

TEST_CASE("errors in a param have their place, and name what would do") {
  const std::string at = "e.json: /cells/mine/params/a";
  CHECK(error_of(R"({"start": 50, "min": 5, "max": 40})") ==
        at + "/start: expected a number between 5 and 40, got 50");
  CHECK(error_of(R"({"start": 5, "min": 5, "max": 40})") ==
        at + "/start: expected a number between 5 and 40, got 5");
  CHECK(error_of(R"({"start": 0, "min": 0})") == at + "/start: expected a number above 0, got 0");
  CHECK(error_of(R"({"start": 0, "min": 1})") == at + "/start: expected a number from 1 on, got 0");
  CHECK(error_of(R"({"start": 9, "max": 1})") == at + "/start: expected a number up to 1, got 9");
  CHECK(error_of(R"({"start": 5, "min": 5, "max": 5})") ==
        at + "/max: expected a number above min, 5, got 5");
  CHECK(error_of(R"({"start": 5, "min": 5, "scale": "logit"})") ==
        at + "/scale: the scale logit needs min and max.");
  CHECK(error_of(R"({"start": 5, "min": -5, "scale": "log"})") ==
        at + "/scale: the scale log needs a min of 0 or more.");
  CHECK(error_of(R"({"start": 5, "scale": "lgo"})") ==
        at + "/scale: unknown value 'lgo'; did you mean 'log'? Known: linear, log, logit");
  CHECK(error_of(R"({"min": 5})").starts_with(at + "/start: "));
  CHECK(error_of(R"("5")").starts_with(at + ": expected a number, or an object"));
  CHECK(error_of(R"({"start": 5, "size": 1.5})").starts_with(at + "/size: expected a number of them"));
}

TEST_CASE("a value comes back from its scale, near bounds too, and slopes are derivatives") {
  for (const Bounds& bounds : {Bounds{}, Bounds{0, 1e300, Scale::log}, Bounds{5, 40, Scale::logit}})
    for (const double v : {5.0 + 1e-12, 6.0, 17.0, 39.0, 40.0 - 1e-12}) {
      const double u = bounds.to_scale(v);
      CHECK(bounds.from_scale(u) == doctest::Approx(v).epsilon(1e-14));
      if (v < 6 || v > 39) continue;
      const double step = 1e-5;
      const double difference = (bounds.from_scale(u + step) - bounds.from_scale(u - step)) / (2 * step);
      CHECK(bounds.slope(v) == doctest::Approx(difference).epsilon(1e-8));
    }
  const Bounds between{5, 40, Scale::logit};
  CHECK(between.contains(between.from_scale(-1e6)));
  CHECK(between.contains(between.from_scale(1e6)));
  CHECK_FALSE(between.contains(5));
  CHECK_FALSE(Bounds{0, 9, Scale::log}.contains(0));
}

}  // namespace
}  // namespace lagtape
