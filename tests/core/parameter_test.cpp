#include "lagtape/core/parameter.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"

using namespace lagtape;

TEST_CASE("Parameters keep their order, their names and their places") {
  Parameters parameters;
  Parameter& first = parameters.add("layers.0.W1", Tensor({4, 3}, Dtype::f32));
  for (int i = 0; i < 100; ++i) parameters.add(text_of("p", i), Tensor({2}, Dtype::f64), i % 2 == 0);
  CHECK(&first == &parameters["layers.0.W1"]);
  CHECK(first.grad.shape() == Shape{4, 3});
  CHECK(first.grad.dtype() == Dtype::f32);
  CHECK(parameters.begin()->name == "layers.0.W1");
  CHECK(parameters.size() == 101);
  CHECK(parameters.count() == 12 + 50 * 2);
}

TEST_CASE("A name is used once, and an unknown one is met with the nearest") {
  Parameters parameters;
  parameters.add("readout.W", Tensor({1}, Dtype::f32));
  CHECK_THROWS_AS(parameters.add("readout.W", Tensor({1}, Dtype::f32)), InputError);
  CHECK_THROWS_WITH_AS(parameters["readout.w1"],
                       "unknown parameter 'readout.w1'; did you mean 'readout.W'? Known: readout.W",
                       InputError);
}
