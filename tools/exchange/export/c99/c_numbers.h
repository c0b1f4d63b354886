#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/tools/exchange/export/c99/c_options.h"

namespace lagtape {

/// The choices that all parts of a C file share.
struct CStyle {
  std::string name;  ///< prefix of all names defined in the file
  Dtype dtype = Dtype::f32;
  CWeights weights = CWeights::real;
  bool fast_functions = false;  ///< tanh and sigmoid use the approximation in c_helpers.h
  CWeights vectors =
      CWeights::real;  ///< the integers to which vectors are rounded for products; real: they are not rounded
};

/// The longest line of the C file.
inline constexpr std::size_t kCLineLength = 110;

/// "signed char" or "short".
std::string c_type(CWeights weights);
/// The largest integer: 127 or 32767.
int largest_whole(CWeights weights);
/// The scalar type of the C file: "float" or "double".
std::string c_type(Dtype dtype);
/// A math.h function for the scalar type: "tanhf" or "tanh".
std::string c_function(const std::string& name, Dtype dtype);
/// A number that reads back unchanged: "0.5f".
std::string c_number(double value, Dtype dtype);
/// "static const float NAME[3] = {...};" with its line ends.
std::string c_array(const std::string& name, std::span<const double> values, Dtype dtype);
std::string c_array(const std::string& name, std::span<const std::int32_t> values, CWeights weights);

/// An integer matrix [rows, columns]: element = scale of its row * integer, where the largest integer of each
/// row is the type's maximum.
struct WholeNumbers {
  std::vector<std::int32_t> values;
  std::vector<double> scales;  ///< one per row, representable in f32
};
WholeNumbers whole_numbers(const Tensor& matrix, CWeights weights);
/// The matrix of these numbers.
Tensor restored(const WholeNumbers& numbers, const Shape& shape, Dtype dtype);

/// The bytes of one element of a matrix.
std::int64_t element_bytes(CWeights weights, Dtype dtype);

}  // namespace lagtape
