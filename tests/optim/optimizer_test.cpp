#include "lagtape/optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "lagtape/core/error.h"
#include "lagtape/optim/adam.h"
#include "lagtape/optim/rmsprop.h"
#include "lagtape/optim/sgd.h"

using namespace lagtape;

namespace {

// The start and the gradients of make_golden.py.
const std::vector<double> kStart = {1.0, -0.5, 0.25, 2.0};
const std::vector<std::vector<double>> kGradients = {
    {0.1, -2.0, 0.0, 30.0}, {-0.3, -1.0, 1e-4, -20.0}, {0.7, 0.5, -1e-4, 10.0}};

Parameters one_parameter(Dtype dtype) {
  Parameters parameters;
  parameters.add("w", Tensor::from({2, 2}, kStart, dtype));
  return parameters;
}

void set_gradient(Parameters& parameters, const std::vector<double>& gradient) {
  for (Parameter& parameter : parameters) {
    parameter.grad = Tensor::from(parameter.value.shape(), gradient, parameter.value.dtype());
  }
}

void check_three_updates(Optimizer& optimizer, Parameters& parameters, double lr,
                         const std::vector<double>& expected) {
  for (const auto& gradient : kGradients) {
    set_gradient(parameters, gradient);
    optimizer.step(parameters, lr);
  }
  const Tensor& w = parameters["w"].value;
  const double tolerance = w.dtype() == Dtype::f64 ? 1e-14 : 4e-7;
  for (std::int64_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(std::abs(w.at(i) - expected[static_cast<std::size_t>(i)]) <= tolerance * 4);
  }
}

struct Golden {
  const char* name;
  std::unique_ptr<Optimizer> (*make)(const Parameters&);
  double lr;
  std::vector<double> expected;
};

// Printed by make_golden.py.
const std::vector<Golden> kGolden = {
    {"sgd",
     [](const Parameters& p) -> std::unique_ptr<Optimizer> { return std::make_unique<Sgd>(p); },
     0.1,
     {0.95000000000000007, -0.25, 0.25, 0}},
    {"sgd with momentum and decay",
     [](const Parameters& p) -> std::unique_ptr<Optimizer> {
       return std::make_unique<Sgd>(p, SgdOptions{.momentum = 0.9, .weight_decay = 0.01});
     },
     0.1,
     {0.95430278899999998, 0.18394280050000011, 0.24858970975, -3.3318134020000003}},
    {"adam",
     [](const Parameters& p) -> std::unique_ptr<Optimizer> { return std::make_unique<Adam>(p); },
     0.01,
     {0.99069169758734454, -0.47504158999804386, 0.24301145080252301, 1.9857697055696637}},
    {"adam with an L2 penalty",
     [](const Parameters& p) -> std::unique_ptr<Optimizer> {
       return std::make_unique<Adam>(p, AdamOptions{.weight_decay = 0.1});
     },
     0.01,
     {0.98467283682447571, -0.47477958585039842, 0.22004807976981286, 1.985609924089379}},
    {"adamw",
     [](const Parameters& p) -> std::unique_ptr<Optimizer> {
       return std::make_unique<Adam>(p, AdamOptions{.weight_decay = 0.1, .decoupled = true});
     },
     0.01,
     {0.98770974468723349, -0.47357240129427308, 0.24226964086880215, 1.9797971387749536}},
    {"rmsprop",
     [](const Parameters& p) -> std::unique_ptr<Optimizer> { return std::make_unique<Rmsprop>(p); },
     0.01,
     {0.9036986484351367, -0.37710910009815402, 0.22093780494138943, 1.9287252909933046}},
    {"rmsprop with an L2 penalty",
     [](const Parameters& p) -> std::unique_ptr<Optimizer> {
       return std::make_unique<Rmsprop>(p, RmspropOptions{.weight_decay = 0.1});
     },
     0.01,
     {0.87852977056490278, -0.37455702075876884, 0.066310082901915757, 1.927659018540161}},
};

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.at(i));
  return values;
}

SafetensorsFile saved(const Optimizer& optimizer) {
  SafetensorsFile file;
  for (const NamedTensor& tensor : optimizer.state())
    file.tensors.push_back({tensor.name, tensor.tensor.clone()});
  return file;
}

}  // namespace

TEST_CASE("three updates of every optimizer give the golden values in both precisions") {
  for (const Golden& golden : kGolden) {
    for (Dtype dtype : {Dtype::f64, Dtype::f32}) {
      CAPTURE(golden.name);
      CAPTURE(name_of(dtype));
      Parameters parameters = one_parameter(dtype);
      auto optimizer = golden.make(parameters);
      check_three_updates(*optimizer, parameters, golden.lr, golden.expected);
      CHECK(optimizer->steps() == 3);
    }
  }
}

TEST_CASE("the first update of Adam moves every weight by the rate against the sign of its gradient") {
  Parameters parameters = one_parameter(Dtype::f64);
  Adam adam(parameters);
  set_gradient(parameters, {3.0, -1e-3, 1e6, -7.0});
  adam.step(parameters, 0.125);
  const std::vector<double> moved = {1.0 - 0.125, -0.5 + 0.125, 0.25 - 0.125, 2.0 + 0.125};
  for (std::int64_t i = 0; i < 4; ++i) {
    CHECK(parameters["w"].value.at(i) == doctest::Approx(moved[static_cast<std::size_t>(i)]).epsilon(1e-5));
  }
}

TEST_CASE("momentum on a constant gradient follows its closed form") {
  // v_t = g (1 - mu^t) / (1 - mu); w_n = w_0 - lr sum v_t
  const double mu = 0.5, lr = 0.1, g = 2.0;
  Parameters parameters;
  parameters.add("w", Tensor::from({1}, {1.0}, Dtype::f64));
  Sgd sgd(parameters, {.momentum = mu});
  double expected = 1.0;
  for (int t = 1; t <= 10; ++t) {
    set_gradient(parameters, {g});
    sgd.step(parameters, lr);
    expected -= lr * g * (1 - std::pow(mu, t)) / (1 - mu);
  }
  CHECK(parameters["w"].value.at(0) == doctest::Approx(expected).epsilon(1e-13));
}

TEST_CASE("the learning rate scales an update, and a rate of zero changes nothing") {
  Parameters parameters = one_parameter(Dtype::f32);
  Sgd sgd(parameters);
  set_gradient(parameters, {1, 1, 1, 1});
  sgd.step(parameters, 0);
  CHECK(values_of(parameters["w"].value) == kStart);
  sgd.step(parameters, 0.5);
  CHECK(parameters["w"].value.at(0) == 0.5);
}

TEST_CASE("a saved and restored optimizer goes on with the same bits") {
  for (const Golden& golden : kGolden) {
    for (Dtype dtype : {Dtype::f64, Dtype::f32}) {
      CAPTURE(golden.name);
      Parameters straight = one_parameter(dtype);
      auto first = golden.make(straight);
      set_gradient(straight, kGradients[0]);
      first->step(straight, golden.lr);
      set_gradient(straight, kGradients[1]);
      first->step(straight, golden.lr);

      Parameters resumed;
      resumed.add("w", straight["w"].value.clone());
      auto second = golden.make(resumed);
      TensorReader reader(saved(*first), "checkpoint");
      second->load_state(reader);
      reader.finish();
      CHECK(second->steps() == 2);

      for (auto [optimizer, parameters] :
           {std::pair{first.get(), &straight}, std::pair{second.get(), &resumed}}) {
        set_gradient(*parameters, kGradients[2]);
        optimizer->step(*parameters, golden.lr);
      }
      CHECK(values_of(straight["w"].value) == values_of(resumed["w"].value));
      auto a = first->state(), b = second->state();
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(values_of(a[i].tensor) == values_of(b[i].tensor));
    }
  }
}

TEST_CASE("the state names a slot and a parameter") {
  Parameters parameters = one_parameter(Dtype::f32);
  Adam adam(parameters);
  auto state = adam.state();
  REQUIRE(state.size() == 3);
  CHECK(state[0].name == "optimizer.steps");
  CHECK(state[1].name == "optimizer.m.w");
  CHECK(state[2].name == "optimizer.v.w");
  CHECK(state[2].tensor.shape() == Shape{2, 2});
}

TEST_CASE("a state that lacks a tensor is refused and changes nothing") {
  Parameters parameters = one_parameter(Dtype::f64);
  Adam adam(parameters);
  set_gradient(parameters, kGradients[0]);
  adam.step(parameters, 0.01);
  SafetensorsFile file = saved(Adam(parameters));
  file.tensors.pop_back();
  TensorReader reader(file, "checkpoint");
  CHECK_THROWS_AS(adam.load_state(reader), InputError);
  CHECK(adam.steps() == 1);
  CHECK(adam.state()[1].tensor.at(1) == doctest::Approx(-0.2));
}

TEST_CASE("frozen parameters keep their values and have no state") {
  Parameters parameters = one_parameter(Dtype::f64);
  parameters.add("frozen", Tensor::from({2, 2}, kStart, Dtype::f64), false);
  Adam adam(parameters, {.weight_decay = 0.1, .decoupled = true});
  CHECK(adam.state().size() == 3);
  set_gradient(parameters, kGradients[0]);
  adam.step(parameters, 0.01);
  CHECK(values_of(parameters["frozen"].value) == kStart);
  CHECK(values_of(parameters["w"].value) != kStart);
}

TEST_CASE("a group's parameters learn at their own rate") {
  Parameters parameters;
  for (const char* name : {"layers.0.W", "layers.1.c", "readout.W"}) {
    parameters.add(name, Tensor::from({1}, {0.0}, Dtype::f64));
  }
  Sgd sgd(parameters, {}, {{"layers.*.c", 0.5}, {"readout.*", 0.0}, {"*.W", 2.0}});
  set_gradient(parameters, {1.0});
  sgd.step(parameters, 1.0);
  CHECK(parameters["layers.0.W"].value.at(0) == -2.0);
  CHECK(parameters["layers.1.c"].value.at(0) == -0.5);
  CHECK(parameters["readout.W"].value.at(0) == 0.0);
}

TEST_CASE("a group that matches no parameter is refused") {
  Parameters parameters = one_parameter(Dtype::f64);
  CHECK_THROWS_AS(Sgd(parameters, {}, {{"layers.*", 0.5}}), InputError);
}

TEST_CASE("parameters that the optimizer was not made for are refused") {
  Parameters made_for = one_parameter(Dtype::f64), others;
  others.add("w", Tensor({3}, Dtype::f64));
  Sgd sgd(made_for);
  set_gradient(others, {0, 0, 0});
  CHECK_THROWS_AS(sgd.step(others, 0.1), InputError);
  CHECK(sgd.steps() == 0);
}

TEST_CASE("a star in a pattern stands for any run of characters") {
  CHECK(matches("*", ""));
  CHECK(matches("a*c", "abc"));
  CHECK(matches("a*c", "ac"));
  CHECK(matches("*b*b", "abcb"));
  CHECK(matches("readout.W", "readout.W"));
  CHECK_FALSE(matches("a*c", "abcd"));
  CHECK_FALSE(matches("", "a"));
  CHECK_FALSE(matches("readout", "readout.W"));
}

TEST_CASE("a parameter is trained on its scale, whose rounding never takes it to a bound") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const double digits = dtype == Dtype::f64 ? 1e-14 : 1e-6;
    Parameters parameters;
    parameters.add("a", Tensor::from({2}, {2, 3}, dtype)).bounds = {0, 1e9, Scale::log};
    parameters.add("b", Tensor::from({2}, {2, 7}, dtype)).bounds = {1, 8, Scale::logit};
    Sgd optimizer(parameters);
    set_gradient(parameters, {1, -1});
    optimizer.step(parameters, 0.1);
    // u' = u - 0.1 dL/dv dv/du
    CHECK(parameters["a"].value.at(0) == doctest::Approx(2 * std::exp(-0.1 * 2)).epsilon(digits));
    CHECK(parameters["a"].value.at(1) == doctest::Approx(3 * std::exp(0.1 * 3)).epsilon(digits));
    const double u = std::log(1.0 / 6) - 0.1 * (1.0 / 7 * 6);
    CHECK(parameters["b"].value.at(0) == doctest::Approx(1 + 7 / (1 + std::exp(-u))).epsilon(digits));
    set_gradient(parameters, {1, -1});
    for (int i = 0; i < 3; ++i) optimizer.step(parameters, 1e6);
    CHECK(parameters["b"].value.at(0) > 1);
    CHECK(parameters["b"].value.at(1) < 8);
    CHECK(parameters["a"].value.at(0) > 0);
    set_gradient(parameters, {-1, 1});
    for (int i = 0; i < 3; ++i) optimizer.step(parameters, 1e18);
    CHECK(parameters["b"].value.at(0) > 1.1);  // it is not stuck there
  }
}

TEST_CASE("values are kept within the bounds of their parameter") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Parameters parameters;
    parameters.add("tau", Tensor::from({3}, {1.5, 7.5, 4.0}, dtype)).bounds = {1, 8};
    parameters.add("w", Tensor::from({3}, {1.5, 7.5, 4.0}, dtype));
    Sgd optimizer(parameters);
    set_gradient(parameters, {1, -1, 1});
    optimizer.step(parameters, 2);
    const auto values = [&](const std::string& name) {
      const Tensor& v = parameters[name].value;
      return std::vector<double>{v.at(0), v.at(1), v.at(2)};
    };
    CHECK(values("tau") == std::vector<double>{1, 8, 2});
    CHECK(values("w") == std::vector<double>{-0.5, 9.5, 2});
  }
}
