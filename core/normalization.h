#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lagtape {

/// The smallest scale: dividing by a smaller one would overflow f32, in which most models compute.
inline constexpr double kLeastScale = std::numeric_limits<float>::min();

/// The map from a row of the user's numbers to normalized ones, number by number: normalized = (value - mean) /
/// scale. Empty vectors leave the numbers unchanged.
struct Scaling {
  std::vector<double> mean, scale;

  bool empty() const { return mean.empty(); }
  bool operator==(const Scaling&) const = default;

  double normalized(double value, std::size_t i) const {
    return empty() ? value : (value - mean[i]) / scale[i];
  }
  double restored(double value, std::size_t i) const { return empty() ? value : value * scale[i] + mean[i]; }
  /// A difference of two normalized numbers in the user's units.
  double restored_difference(double difference, std::size_t i) const {
    return empty() ? difference : difference * scale[i];
  }

  /// Changes whole rows [.., mean.size()] in place; `restore` is the opposite of `normalize`.
  template <class T>
  void normalize(std::span<T> rows) const {
    in_place(rows, [this](double value, std::size_t i) { return normalized(value, i); });
  }
  template <class T>
  void restore(std::span<T> rows) const {
    in_place(rows, [this](double value, std::size_t i) { return restored(value, i); });
  }

  /// Throws InputError unless it is empty or has a mean and a scale for each of `width` numbers, which messages
  /// call `what`: means that fit in f32, and scales from kLeastScale to the largest f32 number.
  void check(std::int64_t width, const char* what) const;

 private:
  template <class T, class F>
  void in_place(std::span<T> rows, F f) const {
    if (empty()) return;
    for (std::size_t first = 0; first < rows.size(); first += mean.size())
      for (std::size_t i = 0; i < mean.size(); ++i) rows[first + i] = static_cast<T>(f(rows[first + i], i));
  }
};

/// The scaling of a model's input and of its output, and so of the training targets.
struct Normalization {
  Scaling input, output;

  bool operator==(const Normalization&) const = default;
  /// Checks both, as Scaling::check does.
  void check(std::int64_t inputs, std::int64_t outputs) const;
};

/// One normalization per series, by name, instead of one for all.
using SeriesNormalizations = std::map<std::string, Normalization, std::less<>>;

}  // namespace lagtape
