#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lagtape {

/// How the numbers of a row relate to the user's: normalised = (value - mean) / scale, number by number. Both
/// empty: as they are.
struct Scaling {
  std::vector<double> mean, scale;

  bool empty() const { return mean.empty(); }
  bool operator==(const Scaling&) const = default;

  double normalized(double value, std::size_t i) const {
    return empty() ? value : (value - mean[i]) / scale[i];
  }
  double restored(double value, std::size_t i) const { return empty() ? value : value * scale[i] + mean[i]; }
  /// What a difference of two normalised numbers is in the user's.
  double restored_difference(double difference, std::size_t i) const {
    return empty() ? difference : difference * scale[i];
  }

  /// Whole rows [.., mean.size()], in place.
  template <class T>
  void normalize(std::span<T> rows) const {
    in_place(rows, [this](double value, std::size_t i) { return normalized(value, i); });
  }
  template <class T>
  void restore(std::span<T> rows) const {
    in_place(rows, [this](double value, std::size_t i) { return restored(value, i); });
  }

  /// Throws InputError unless it is empty or has a mean and a scale above 0 for each of `width` numbers,
  /// which messages call `what`.
  void check(std::int64_t width, const char* what) const;

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

  bool operator==(const Normalization&) const = default;
  /// Both as Scaling::check.
  void check(std::int64_t inputs, std::int64_t outputs) const;
};

/// As a JSON object of four arrays, each number with all its digits.
std::string json_of(const Normalization& normalization);
/// The same read again. Throws InputError, `where` in front.
Normalization normalization_from(const std::string& json, const std::string& where);

}  // namespace lagtape
