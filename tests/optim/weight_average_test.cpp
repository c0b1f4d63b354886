#include "lagtape/optim/weight_average.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"

using namespace lagtape;

namespace {

constexpr int kUpdates = 40;

Parameters some(Dtype dtype, std::int64_t width = 5) {
  Parameters parameters;
  parameters.add("W", Tensor({3, width}, dtype));
  parameters.add("mean", Tensor::full({2}, dtype, 7), false);
  parameters.add("b", Tensor::full({4}, dtype, 0.1));
  return parameters;
}

/// Moves W somewhere else; b stays where it is.
void move(Parameters& parameters, RandomStream& random) {
  Tensor& W = parameters["W"].value;
  for (std::int64_t i = 0; i < W.numel(); ++i) W.set(i, 3 + random.next_normal());
}

bool same_bits(const Tensor& x, const Tensor& y) {
  return x.shape() == y.shape() && x.dtype() == y.dtype() &&
         std::memcmp(x.raw(), y.raw(), x.numel() * byte_size(x.dtype())) == 0;
}

/// The largest distance of W from sum / count.
double distance(const Parameters& parameters, const std::vector<long double>& sum, int count) {
  long double largest = 0;
  const Tensor& W = parameters["W"].value;
  for (std::int64_t i = 0; i < W.numel(); ++i)
    largest = std::max(largest, std::abs(sum[static_cast<std::size_t>(i)] / count - W.at(i)));
  return static_cast<double>(largest);
}

}  // namespace

TEST_CASE("the average is the mean over the updates, rounded once") {
  for (const auto& [dtype, rounding] : {std::pair{Dtype::f32, 2.5e-7}, std::pair{Dtype::f64, 2e-15}}) {
    Parameters parameters = some(dtype);
    WeightAverage average(parameters);
    CHECK_THROWS_WITH_AS(average.assign_to(parameters), doctest::Contains("no update"), InputError);
    RandomStream random(3, 1);
    std::vector<long double> sum(15);
    for (int update = 1; update <= kUpdates; ++update) {
      move(parameters, random);
      for (std::int64_t i = 0; i < 15; ++i) sum[static_cast<std::size_t>(i)] += parameters["W"].value.at(i);
      average.add(parameters);
      CHECK(average.updates() == update);
      Parameters means = some(dtype);
      average.assign_to(means);
      CHECK(distance(means, sum, update) <= rounding);
      if (update > 1) CHECK(distance(means, sum, update - 1) > 1e-3);
    }
  }
}

TEST_CASE("the mean of weights that do not move has their bits, and frozen parameters have no mean") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Parameters parameters = some(dtype);
    WeightAverage average(parameters);
    RandomStream random(4, 1);
    for (int update = 0; update < kUpdates; ++update) {
      move(parameters, random);
      average.add(parameters);
    }
    parameters["mean"].value.fill(8);
    parameters["b"].value.fill(0);
    average.assign_to(parameters);
    CHECK(same_bits(parameters["b"].value, Tensor::full({4}, dtype, 0.1)));
    CHECK(parameters["mean"].value.at(0) == 8);
    CHECK(average.state().size() == 3);
  }
}

TEST_CASE("an average that was saved goes on with the same bits") {
  Parameters parameters = some(Dtype::f32);
  WeightAverage whole(parameters), before(parameters), after(parameters);
  RandomStream random(5, 1);
  for (int update = 0; update < kUpdates; ++update) {
    move(parameters, random);
    whole.add(parameters);
    if (update == 17) {
      SafetensorsFile file;
      file.tensors = before.state();
      TensorReader reader(parse_safetensors(serialize_safetensors(file), "file"), "file");
      after.load_state(reader);
      reader.finish();
    }
    (update < 17 ? before : after).add(parameters);
  }
  CHECK(after.updates() == kUpdates);
  Parameters one = some(Dtype::f32), other = some(Dtype::f32);
  whole.assign_to(one);
  after.assign_to(other);
  CHECK(same_bits(one["W"].value, other["W"].value));
}

TEST_CASE("parameters and files that are not the average's own are refused and change nothing") {
  Parameters parameters = some(Dtype::f64), wide = some(Dtype::f64, 6);
  parameters["W"].value.fill(2);
  WeightAverage average(parameters);
  average.add(parameters);
  CHECK_THROWS_AS(average.add(wide), InputError);
  CHECK_THROWS_AS(average.assign_to(wide), InputError);
  for (const double count : {-1.0, 1.5, std::nan("")}) {
    SafetensorsFile file;
    for (const NamedTensor& tensor : average.state())
      file.tensors.push_back({tensor.name, tensor.tensor.clone()});
    file.tensors[0].tensor.set(0, count);
    TensorReader reader(file, "file");
    CHECK_THROWS_WITH_AS(average.load_state(reader), doctest::Contains("average.updates"), InputError);
  }
  SafetensorsFile other;
  other.tensors = WeightAverage(wide).state();
  TensorReader reader(other, "file");
  CHECK_THROWS_AS(average.load_state(reader), InputError);
  CHECK(average.updates() == 1);
  parameters["W"].value.fill(0);
  average.assign_to(parameters);
  CHECK(parameters["W"].value.at(7) == 2);
}
