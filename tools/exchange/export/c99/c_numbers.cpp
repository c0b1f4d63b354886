#include "lagtape/tools/exchange/export/c99/c_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

template <class T>
std::string shortest(T value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// The words separated by commas, in lines.
template <class Words>
std::string in_lines(const Words& words) {
  std::string text, line = " ";
  for (const std::string& word : words) {
    if (line.size() + word.size() + 2 > kCLineLength) {
      text += line + "\n";
      line = " ";
    }
    line += text_of(" ", word, ",");
  }
  return text + line + "\n";
}

std::string definition(const std::string& type, const std::string& name, std::size_t count,
                       const std::vector<std::string>& words) {
  return text_of("static const ", type, " ", name, "[", count, "] = {\n", in_lines(words), "};\n");
}

}  // namespace

std::string c_type(CWeights weights) { return weights == CWeights::int8 ? "signed char" : "short"; }

int largest_whole(CWeights weights) { return weights == CWeights::int8 ? 127 : 32767; }

std::string c_type(Dtype dtype) { return dtype == Dtype::f32 ? "float" : "double"; }

std::string c_function(const std::string& name, Dtype dtype) {
  return name + (dtype == Dtype::f32 ? "f" : "");
}

std::string c_number(double value, Dtype dtype) {
  const double rounded = dtype == Dtype::f32 ? static_cast<double>(static_cast<float>(value)) : value;
  if (std::isnan(rounded)) return dtype == Dtype::f32 ? "NAN" : "(double)NAN";
  if (std::isinf(rounded))
    return text_of(rounded < 0 ? "-" : "", dtype == Dtype::f32 ? "HUGE_VALF" : "HUGE_VAL");
  std::string text = dtype == Dtype::f32 ? shortest(static_cast<float>(value)) : shortest(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return dtype == Dtype::f32 ? text + "f" : text;
}

std::string c_array(const std::string& name, std::span<const double> values, Dtype dtype) {
  std::vector<std::string> words;
  for (const double value : values) words.push_back(c_number(value, dtype));
  return definition(c_type(dtype), name, values.size(), words);
}

std::string c_array(const std::string& name, std::span<const std::int32_t> values, CWeights weights) {
  std::vector<std::string> words;
  for (const std::int32_t value : values) words.push_back(std::to_string(value));
  return definition(c_type(weights), name, values.size(), words);
}

WholeNumbers whole_numbers(const Tensor& matrix, CWeights weights) {
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  WholeNumbers numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    double largest = 0;
    for (std::int64_t i = 0; i < columns; ++i)
      largest = std::max(largest, std::abs(matrix.at(row * columns + i)));
    const double scale = static_cast<float>(largest / largest_whole(weights));
    numbers.scales.push_back(scale);
    for (std::int64_t i = 0; i < columns; ++i) {
      const double whole = scale > 0 ? std::round(matrix.at(row * columns + i) / scale) : 0;
      const double bound = largest_whole(weights);
      numbers.values.push_back(static_cast<std::int32_t>(std::clamp(whole, -bound, bound)));
    }
  }
  return numbers;
}

Tensor restored(const WholeNumbers& numbers, const Shape& shape, Dtype dtype) {
  Tensor matrix(shape, dtype);
  const std::int64_t columns = shape[1];
  for (std::int64_t i = 0; i < matrix.numel(); ++i)
    matrix.set(i, numbers.scales[i / columns] * numbers.values[i]);
  return matrix;
}

std::int64_t element_bytes(CWeights weights, Dtype dtype) {
  if (weights == CWeights::real) return static_cast<std::int64_t>(byte_size(dtype));
  return weights == CWeights::int8 ? 1 : 2;
}

}  // namespace lagtape
