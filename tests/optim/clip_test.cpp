#include "lagtape/optim/clip.h"

#include <doctest/doctest.h>

#include <limits>

#include "lagtape/core/error.h"

using namespace lagtape;

namespace {

Parameters with_gradients(Dtype dtype) {
  Parameters parameters;
  parameters.add("a", Tensor({2}, dtype)).grad = Tensor::from({2}, {3.0, 0.0}, dtype);
  parameters.add("b", Tensor({1}, dtype)).grad = Tensor::from({1}, {-4.0}, dtype);
  parameters.add("frozen", Tensor({1}, dtype), false).grad = Tensor::from({1}, {100.0}, dtype);
  return parameters;
}

}  // namespace

TEST_CASE("the norm is that of all trainable gradients together") {
  CHECK(gradient_norm(with_gradients(Dtype::f32)) == 5.0);
  CHECK(gradient_norm(with_gradients(Dtype::f64)) == 5.0);
}

TEST_CASE("large gradients are scaled to the largest norm and keep their direction") {
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Parameters parameters = with_gradients(dtype);
    CHECK(clip_gradient_norm(parameters, 1.0) == 5.0);
    CHECK(parameters["a"].grad.at(0) == doctest::Approx(0.6).epsilon(1e-6));
    CHECK(parameters["b"].grad.at(0) == doctest::Approx(-0.8).epsilon(1e-6));
    CHECK(parameters["frozen"].grad.at(0) == 100.0);
    CHECK(gradient_norm(parameters) <= 1.0 + 1e-7);
  }
}

TEST_CASE("small gradients keep their bits") {
  Parameters parameters = with_gradients(Dtype::f64);
  CHECK(clip_gradient_norm(parameters, 6.0) == 5.0);
  CHECK(parameters["a"].grad.at(0) == 3.0);
  CHECK(parameters["b"].grad.at(0) == -4.0);
}

TEST_CASE("squares that overflow f32 do not overflow the norm") {
  Parameters parameters;
  parameters.add("a", Tensor({1}, Dtype::f32)).grad = Tensor::from({1}, {1e30}, Dtype::f32);
  CHECK(gradient_norm(parameters) == doctest::Approx(1e30));
}

TEST_CASE("squares that overflow f64 do not overflow the norm, nor keep it from being clipped") {
  Parameters parameters = with_gradients(Dtype::f64);
  for (const char* name : {"a", "b"}) parameters[name].grad.fill(0);
  parameters["a"].grad.set(0, 3e200);
  parameters["b"].grad.set(0, -4e200);
  CHECK(gradient_norm(parameters) == doctest::Approx(5e200));
  CHECK(clip_gradient_norm(parameters, 1.0) == doctest::Approx(5e200));
  CHECK(parameters["a"].grad.at(0) == doctest::Approx(0.6));
  CHECK(parameters["b"].grad.at(0) == doctest::Approx(-0.8));
}

TEST_CASE("a norm that is not finite is returned and nothing is scaled") {
  Parameters parameters = with_gradients(Dtype::f64);
  parameters["b"].grad.set(0, std::numeric_limits<double>::infinity());
  CHECK(clip_gradient_norm(parameters, 1.0) == std::numeric_limits<double>::infinity());
  CHECK(parameters["a"].grad.at(0) == 3.0);
}

TEST_CASE("the largest norm must be above zero") {
  Parameters parameters = with_gradients(Dtype::f64);
  CHECK_THROWS_AS(clip_gradient_norm(parameters, 0), InputError);
  CHECK_THROWS_AS(clip_gradient_norm(parameters, -1), InputError);
}
