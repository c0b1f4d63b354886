#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Initializes a parameter. A draw is a function of (seed, the parameter's full name, the element), so it
/// depends neither on other parameters nor on the precision.
struct Initializer {
  enum class Kind : std::uint8_t {
    constant,          ///< a
    uniform,           ///< U(a, b)
    normal,            ///< N(a, b^2)
    truncated_normal,  ///< N(a, b^2), drawn again until it is within 2 b of a
    log_uniform,       ///< a log U(1, b)                         (chrono: Tallec and Ollivier 2018)
    henaff,            ///< the triangle [n (n - 1) / 2] of a skew-symmetric matrix of rotations by U(-pi, pi)
    cayley,            ///< the same with -sqrt((1 - cos t) / (1 + cos t)), t from U(0, pi / 2)
    ramp,              ///< a + b k, k the index along the last axis
    log_ramp,          ///< log(a + b k)
    power_ramp,        ///< a + (b - a) (k / (size - 1))^0.3      (xLSTM: Beck et al. 2024)
    log_of_uniform,    ///< log U(a, b)
    inverse_softplus,  ///< v with softplus(v) = exp(U(log a, log b))          (Mamba: Gu and Dao 2023)
    decay_8,           ///< v with exp(-8 softplus(v)) = U(a, b)               (Griffin: De et al. 2024)
    ring,              ///< log(-log r), r^2 = U(a^2, b^2)                     (LRU: Orvieto et al. 2023)
    ring_gain,         ///< log sqrt(1 - r^2) of the same draws
    // Both use dt = sigmoid(s) with the s that the cell draws from N(0, 1/4)     (D-LinOSS: Boyer et al. 2025)
    oscillator_damping,    ///< (1 / r^2 - 1) / dt, r^2 = U(a^2, b^2)
    oscillator_stiffness,  ///< (1 + 1 / r^2 - 2 cos(t) / r) / dt^2, t = U(0, pi)
    kaiming_uniform,       ///< U(-r, r), r = a sqrt(3 / in)          (He et al. 2015)
    kaiming_normal,        ///< N(0, s^2), s = a / sqrt(in)
    xavier_uniform,        ///< U(-r, r), r = a sqrt(6 / (in + out))  (Glorot and Bengio 2010)
    xavier_normal,         ///< N(0, s^2), s = a sqrt(2 / (in + out))
    orthogonal,            ///< a Q, the shorter of rows and columns orthonormal (Saxe et al. 2014)
    identity,              ///< a on the diagonal, else 0 (Le, Jaitly and Hinton 2015)
  };

  Kind kind = Kind::constant;
  double a = 0;
  double b = 0;

  static Initializer constant(double value) { return {Kind::constant, value, 0}; }
  static Initializer uniform(double low, double high) { return {Kind::uniform, low, high}; }
  static Initializer normal(double mean, double deviation) { return {Kind::normal, mean, deviation}; }
  static Initializer log_uniform(double scale, double largest) { return {Kind::log_uniform, scale, largest}; }
  // The numbers above the diagonal, row by row, of a matrix [n, n] made of 2 x 2 blocks along its diagonal
  // (Henaff et al. 2016; Helfrich et al. 2018); 0 outside the blocks.
  static Initializer henaff() { return {Kind::henaff, 0, 0}; }
  static Initializer cayley() { return {Kind::cayley, 0, 0}; }
  static Initializer ramp(double first, double step) { return {Kind::ramp, first, step}; }
  static Initializer log_of_uniform(double low, double high) { return {Kind::log_of_uniform, low, high}; }
  static Initializer inverse_softplus(double low, double high) { return {Kind::inverse_softplus, low, high}; }
  static Initializer ring(double low, double high) { return {Kind::ring, low, high}; }
  static Initializer truncated_normal(double mean, double deviation) {
    return {Kind::truncated_normal, mean, deviation};
  }
  /// U(-1/sqrt(n), 1/sqrt(n)). For a cell, n is the number of its units; for a linear map, of its inputs.
  static Initializer uniform_of(std::int64_t n);
  // The gain sqrt(2) is the one for relu.
  static Initializer kaiming_uniform(double gain = 1.4142135623730951) {
    return {Kind::kaiming_uniform, gain, 0};
  }
  static Initializer kaiming_normal(double gain = 1.4142135623730951) {
    return {Kind::kaiming_normal, gain, 0};
  }
  static Initializer xavier_uniform(double gain = 1) { return {Kind::xavier_uniform, gain, 0}; }
  static Initializer xavier_normal(double gain = 1) { return {Kind::xavier_normal, gain, 0}; }
  static Initializer orthogonal(double gain = 1) { return {Kind::orthogonal, gain, 0}; }
  static Initializer identity(double gain = 1) { return {Kind::identity, gain, 0}; }

  /// Whether it suits only matrices [out, in].
  bool needs_matrix() const { return kind >= Kind::kaiming_uniform; }
  /// The reason why it does not suit parameters of that shape, such as "is for matrices [out, in]"; empty if it
  /// does.
  std::string obstacle(const Shape& shape) const;
  bool operator==(const Initializer&) const = default;
};

/// Sets the values of a parameter. Throws InputError if the initializer does not suit its shape.
void initialize(Tensor& value, const Initializer& initializer, std::uint64_t seed, std::string_view name);

}  // namespace lagtape
