#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "lagtape/cells/build/cell.h"
#include "lagtape/tests/cells/support/evaluate.h"

namespace lagtape::test {

// The comparison of a cell with its equations, unit by unit: kUnits units over a sequence of kSteps inputs,
// from zero states, with weights whose values are a function of their names.

inline constexpr int kUnits = 3, kInputs = 2, kSteps = 12;

/// x[n], [kSteps][kInputs].
std::vector<Vector> sequence();

/// The numbers of a parameter, in (-1, 1), row-major.
Vector weight_of(const std::string& name, std::int64_t count);

/// (W v)[unit] of a matrix [kUnits, width of v], and (W v + W.bias)[unit].
double linear(const std::string& name, const Vector& v, int unit);
double affine(const std::string& name, const Vector& v, int unit);

inline double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// A weight of the layer's step, row-major, where the parameters have the values of `weight_of`.
Vector step_weight(const Layer& layer, const std::string& name);

/// (matrix v)[unit] of a matrix in rows.
double product(const Vector& matrix, const Vector& v, int unit);

/// The outputs of the layer with the parameters of `weight_of`.
std::vector<Vector> run(const Layer& layer);
/// The same with the numbers weight(name, count) for the weights of its step.
std::vector<Vector> run(const Layer& layer,
                        const std::function<Vector(const std::string&, std::int64_t)>& weight);

/// h[1..kSteps] of h[n+1] = step(h[n], h[n-lag], x[n], unit).
template <class Step>
std::vector<Vector> expected(int lag, Step step) {
  std::vector<Vector> h = {Vector(kUnits)};
  const std::vector<Vector> x = sequence();
  for (int n = 0; n < kSteps; ++n) {
    Vector next(kUnits);
    const Vector past = n >= lag ? h[n - lag] : Vector(kUnits);
    for (int i = 0; i < kUnits; ++i) next[i] = step(h[n], past, x[n], i);
    h.push_back(next);
  }
  h.erase(h.begin());
  return h;
}

/// Checks that both agree to 12 digits, and that there is something to compare.
void check_equal(const std::vector<Vector>& got, const std::vector<Vector>& wanted);

}  // namespace lagtape::test
