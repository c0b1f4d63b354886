#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/build/cell.h"

namespace lagtape {

class JsonReader;

/// A built-in cell in the notation of user-defined equations (ops/recurrence/equations/equations.h), from which
/// its step is recorded. Names with shapes are separated by semicolons, lines by line breaks:
///
///     WrittenCell{.weights = "W [units, units]; U [units, input]; U.bias [units]",
///                 .states = "h [units]",
///                 .step = "h' = tanh(W @ h + U @ x + U.bias)",
///                 .output = "h'"}
struct WrittenCell {
  std::string weights = {};
  std::string states = {};
  std::string derived = {};  ///< "A = relu(a)": weights of the step that are functions of other weights
  std::string lags = {};     ///< "theta [64]": weights that are lags, with their maximum values
  std::string step = {};
  std::string output = {};
  std::vector<std::pair<std::string, double>> numbers = {};  ///< numbers by name, such as {"heads", 4}
  Initializer start = {};  ///< initial values of weights that are not in `init`
  Initializer bias = {};   ///< the same for weights whose names end in ".bias"
  std::map<std::string, Initializer> init = {};
  std::map<std::string, std::string> draws_of = {};  ///< ParameterDefinition::draws_of

  Layer build(std::int64_t units, std::int64_t input) const;
};

// Parts of equations that several cells share.

/// "W @ x + W.bias", and "W [out, in]; W.bias [out]".
std::string affine_text(const std::string& name, const std::string& of);
std::string affine_shapes(const std::string& name, const std::string& out, const std::string& in);
/// "D * x" with a vector D, or "D @ x" with a matrix D if input and units differ; the shape of D; and its
/// initial values, from N(0, 1) for a vector and N(0, 1 / input) for a matrix.
std::string direct_text(const std::string& name, std::int64_t units, std::int64_t input);
std::string direct_shapes(const std::string& name, std::int64_t units, std::int64_t input);
Initializer direct_start(std::int64_t units, std::int64_t input);
/// "u = x", or "u = W_in @ x" if input and units differ, for cells whose input must be as wide as their state;
/// the shapes.
std::string widened_text(std::int64_t units, std::int64_t input);
std::string widened_shapes(std::int64_t units, std::int64_t input);
/// A square matrix W over the units, block-diagonal if there are several heads: its shape, and W @ v for a
/// vector v.
struct Heads {
  std::int64_t heads = 1;
  std::string matrix_shape(const std::string& name) const;
  std::string product(const std::string& name, const std::string& v) const;
  std::vector<std::pair<std::string, double>> number()
      const;  ///< the number "heads" of the equations, if any
};
/// Notes an error if the number of heads does not divide the number of units.
void check_heads(std::int64_t units, std::int64_t heads, JsonReader& reader);
/// For cells whose last input may be the time since the previous step: lines that set the step's time t
/// (otherwise 1) and the other inputs seen_x (a negative time counts as 0), and the number of these inputs.
/// Throws InputError if there are none.
std::string elapsed_text(bool elapsed);
std::int64_t inputs_beside_time(bool elapsed, std::int64_t input);
/// The causal convolution of each unit over `taps` values, "K0 * v' + K1 * v + K2 * v[-1] + K.bias", for a
/// state v with the newest value v'; and the shapes of its weights.
std::string convolution_text(const std::string& name, const std::string& state, std::int64_t taps);
std::string convolution_shapes(const std::string& name, std::int64_t taps);

}  // namespace lagtape
