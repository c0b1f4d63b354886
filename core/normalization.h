#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lagtape {

/// How a row of numbers relates to the user's: normalised = (value - mean) / scale, number by number. Both
/// empty: as they are.
struct Scaling {
  std::vector<double> mean, scale;

  double normalized(double value, std::size_t i) const {
    return mean.empty() ? value : (value - mean[i]) / scale[i];
  }
  double restored(double value, std::size_t i) const {
    return mean.empty() ? value : value * scale[i] + mean[i];
  }

  bool empty() const { return mean.empty(); }

  /// Rows [.., mean.size()] in place.
  template <class T>
  void normalize(std::span<T> rows) const {
    in_place(rows, [this](double value, std::size_t i) { return normalized(value, i); });
  }
  template <class T>
  void restore(std::span<T> rows) const {
    in_place(rows, [this](double value, std::size_t i) { return restored(value, i); });
  }

 private:
  template <class T, class F>
  void in_place(std::span<T> rows, F f) const {
    if (empty()) return;
    for (std::size_t first = 0; first < rows.size(); first += mean.size())
      for (std::size_t i = 0; i < mean.size(); ++i) rows[first + i] = static_cast<T>(f(rows[first + i], i));
  }
};

/// Of what goes into a model and of what comes out, which is what it is trained towards.
struct Normalization {
  Scaling input, output;

  /// Throws InputError unless each is empty or has a mean and a scale above 0 for every number.
  void check(std::int64_t inputs, std::int64_t outputs) const;
};

}  // namespace lagtape
