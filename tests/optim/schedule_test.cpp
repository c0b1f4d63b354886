#include "lagtape/optim/schedule.h"

#include <doctest/doctest.h>

using namespace lagtape;

TEST_CASE("the constant schedule is one") {
  CHECK(constant_schedule()({.epoch = 0, .step = 0, .steps = 10}) == 1.0);
  CHECK(constant_schedule()({.epoch = 9, .step = 9, .steps = 10}) == 1.0);
}

TEST_CASE("a drop after epoch 22 holds from the 23rd epoch on") {
  Schedule schedule = step_schedule({22, 30}, {}, 0.1);
  CHECK(schedule({.epoch = 21, .step = 0, .steps = 1}) == 1.0);
  CHECK(schedule({.epoch = 22, .step = 0, .steps = 1}) == doctest::Approx(0.1));
  CHECK(schedule({.epoch = 29, .step = 0, .steps = 1}) == doctest::Approx(0.1));
  CHECK(schedule({.epoch = 30, .step = 0, .steps = 1}) == doctest::Approx(0.01));
}

TEST_CASE("a drop after 100 updates holds from the 101st on") {
  Schedule schedule = step_schedule({}, {100}, 0.5);
  CHECK(schedule({.epoch = 0, .step = 99, .steps = 1000}) == 1.0);
  CHECK(schedule({.epoch = 0, .step = 100, .steps = 1000}) == 0.5);
}

TEST_CASE("the cosine goes from one through the middle to the floor") {
  Schedule schedule = cosine_schedule(0.2);
  CHECK(schedule({.epoch = 0, .step = 0, .steps = 100}) == 1.0);
  CHECK(schedule({.epoch = 0, .step = 50, .steps = 100}) == doctest::Approx(0.6));
  CHECK(schedule({.epoch = 0, .step = 25, .steps = 100}) == doctest::Approx(0.2 + 0.8 * 0.8535533905932737));
  CHECK(schedule({.epoch = 0, .step = 100, .steps = 100}) == doctest::Approx(0.2));
}

TEST_CASE("the warm-up grows in a straight line and then leaves the schedule alone") {
  Schedule schedule = with_warmup(step_schedule({}, {6}, 0.1), 4);
  CHECK(schedule({.epoch = 0, .step = 0, .steps = 10}) == 0.25);
  CHECK(schedule({.epoch = 0, .step = 2, .steps = 10}) == 0.75);
  CHECK(schedule({.epoch = 0, .step = 3, .steps = 10}) == 1.0);
  CHECK(schedule({.epoch = 0, .step = 5, .steps = 10}) == 1.0);
  CHECK(schedule({.epoch = 0, .step = 6, .steps = 10}) == doctest::Approx(0.1));
}

TEST_CASE("on plateaus the rate drops by a factor, to a floor") {
  const Schedule schedule = plateau_schedule(0.5, 0.2);
  CHECK(schedule({.plateaus = 0}) == 1);
  CHECK(schedule({.plateaus = 1}) == 0.5);
  CHECK(schedule({.plateaus = 2}) == 0.25);
  CHECK(schedule({.plateaus = 3}) == 0.2);
}
