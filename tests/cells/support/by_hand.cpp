#include "lagtape/tests/cells/support/by_hand.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "lagtape/core/random.h"

namespace lagtape::test {

std::vector<Vector> sequence() {
  std::vector<Vector> x(kSteps);
  for (int n = 0; n < kSteps; ++n) x[n] = {std::sin(0.7 * n), std::cos(1.3 * n)};
  return x;
}

Vector weight_of(const std::string& name, std::int64_t count) {
  std::uint64_t letters = 0;
  for (const char c : name) letters = letters * 131 + static_cast<unsigned char>(c);
  const RandomStream stream(7, letters);
  Vector values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = 2 * stream.uniform_at(i) - 1;
  return values;
}

double linear(const std::string& name, const Vector& v, int unit) {
  const Vector W = weight_of(name, kUnits * v.size());
  double sum = 0;
  for (std::size_t k = 0; k < v.size(); ++k) sum += W[unit * v.size() + k] * v[k];
  return sum;
}

double affine(const std::string& name, const Vector& v, int unit) {
  return linear(name, v, unit) + weight_of(name + ".bias", kUnits)[unit];
}

Vector step_weight(const Layer& layer, const std::string& name) {
  Tape tape;
  std::vector<Var> parameters;
  for (const ParameterDefinition& p : layer.parameters)
    parameters.push_back(
        tape.constant(Tensor::from(p.shape, weight_of(p.name, element_count(p.shape)), Dtype::f64)));
  const auto definition = std::ranges::find(layer.program.weights, name, &WeightDefinition::name);
  const Tensor value = layer.step_weights(parameters)[definition - layer.program.weights.begin()].value();
  const auto numbers = value.values<double>();
  return {numbers.begin(), numbers.end()};
}

double product(const Vector& matrix, const Vector& v, int unit) {
  return std::inner_product(v.begin(), v.end(), matrix.begin() + unit * v.size(), 0.0);
}

std::vector<Vector> run(const Layer& layer) {
  return evaluate(
      layer.program, [&](const std::string& name) { return step_weight(layer, name); }, sequence());
}

std::vector<Vector> run(const Layer& layer,
                        const std::function<Vector(const std::string&, std::int64_t)>& weight) {
  const auto by_name = [&](const std::string& name) {
    const auto definition = std::ranges::find(layer.program.weights, name, &WeightDefinition::name);
    return weight(name, element_count(definition->shape));
  };
  return evaluate(layer.program, by_name, sequence());
}

void check_equal(const std::vector<Vector>& got, const std::vector<Vector>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t n = 0; n < got.size(); ++n) {
    for (std::size_t i = 0; i < got[n].size(); ++i) {
      CAPTURE(n);
      CHECK(std::abs(wanted[n][i]) > 1e-4);
      CHECK(got[n][i] == doctest::Approx(wanted[n][i]).epsilon(1e-12));
    }
  }
}

}  // namespace lagtape::test
