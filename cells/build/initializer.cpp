#include "lagtape/cells/build/initializer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/hash.h"
#include "lagtape/core/random.h"

namespace lagtape {
namespace {

using Kind = Initializer::Kind;

RandomStream stream_of(std::uint64_t seed, std::string_view name) {
  constexpr std::uint64_t kPurpose = 0x696E6974;  // "init"
  return {seed, stream_name({kPurpose, fnv1a(name)})};
}

void fill_uniform(Tensor& value, double low, double high, const RandomStream& stream) {
  for (std::int64_t i = 0; i < value.numel(); ++i) value.set(i, low + (high - low) * stream.uniform_at(i));
}

void fill_normal(Tensor& value, double mean, double deviation, const RandomStream& stream) {
  for (std::int64_t i = 0; i < value.numel(); ++i) value.set(i, mean + deviation * stream.normal_at(i));
}

void fill_truncated_normal(Tensor& value, double mean, double deviation, const RandomStream& stream) {
  constexpr double kFurthest = 2;
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    double drawn = stream.normal_at(i);
    for (std::int64_t place = i; std::abs(drawn) > kFurthest; drawn = stream.normal_at(place))
      place += value.numel();
    value.set(i, mean + deviation * drawn);
  }
}

void fill_log_uniform(Tensor& value, double scale, double largest, const RandomStream& stream) {
  for (std::int64_t i = 0; i < value.numel(); ++i)
    value.set(i, scale * std::log(1 + (largest - 1) * stream.uniform_at(i)));
}

/// The largest n with n (n - 1) / 2 <= numbers.
std::int64_t side_of_triangle(std::int64_t numbers) {
  return static_cast<std::int64_t>((1 + std::sqrt(1 + 8 * static_cast<double>(numbers))) / 2);
}

/// Sets the numbers above the diagonal of each 2 x 2 block to a draw at the block's number, and the others to
/// 0.
template <class F>
void fill_rotations(Tensor& triangle, F number) {
  const std::int64_t n = side_of_triangle(triangle.numel());
  std::int64_t row = 0;
  triangle.fill(0);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    if (i % 2 == 0) triangle.set(row, number(i / 2));
    row += n - 1 - i;
  }
}

void fill_henaff(Tensor& triangle, const RandomStream& stream) {
  fill_rotations(triangle, [&](std::int64_t k) { return std::numbers::pi * (2 * stream.uniform_at(k) - 1); });
}

void fill_cayley(Tensor& triangle, const RandomStream& stream) {
  fill_rotations(triangle, [&](std::int64_t k) {
    const double c = std::cos(std::numbers::pi / 2 * stream.uniform_at(k));
    return -std::sqrt((1 - c) / (1 + c));
  });
}

/// Sets each element to f(k, k_max), where k is its index along the last axis.
template <class F>
void fill_along(Tensor& value, F f) {
  const std::int64_t extent = value.rank() == 0 ? 1 : value.size(-1);
  for (std::int64_t i = 0; i < value.numel(); ++i)
    value.set(i, f(static_cast<double>(i % extent), static_cast<double>(extent - 1)));
}

/// Sets f(U(low, high)).
template <class F>
void fill_drawn(Tensor& value, double low, double high, const RandomStream& stream, F f) {
  for (std::int64_t i = 0; i < value.numel(); ++i) value.set(i, f(low + (high - low) * stream.uniform_at(i)));
}

/// v with softplus(v) = y.
double unsoftened(double y) { return y + std::log(-std::expm1(-y)); }

/// Sets f(dt, 1 / r, cos t), dt = sigmoid(N(0, 1/4)) from separate draws of the stream, r^2 = U(low^2, high^2),
/// t = U(0, pi).
template <class F>
void fill_oscillators(Tensor& value, double low, double high, const RandomStream& stream, F f) {
  const std::int64_t n = value.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    const double dt = 1 / (1 + std::exp(-0.5 * stream.normal_at(i)));
    const double r = std::sqrt(low * low + (high * high - low * low) * stream.uniform_at(i + 4 * n));
    value.set(i, f(dt, 1 / r, std::cos(std::numbers::pi * stream.uniform_at(i + 8 * n))));
  }
}

/// Makes vectors of equal length orthonormal by Gram-Schmidt. Each is orthogonalized twice, because once is not
/// enough in finite precision.
void orthonormalize(std::vector<std::vector<double>>& vectors) {
  const auto dot = [](const auto& a, const auto& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double overlap = dot(vectors[i], vectors[j]);
        for (std::size_t k = 0; k < vectors[i].size(); ++k) vectors[i][k] -= overlap * vectors[j][k];
      }
      const double length = std::sqrt(dot(vectors[i], vectors[i]));
      for (double& element : vectors[i]) element /= length;
    }
  }
}

void fill_orthogonal(Tensor& value, double gain, const RandomStream& stream) {
  const std::int64_t out = value.size(0), in = value.size(1);
  const bool by_rows = out <= in;
  const auto index = [&](std::int64_t i, std::int64_t k) { return by_rows ? i * in + k : k * in + i; };
  std::vector<std::vector<double>> vectors(by_rows ? out : in, std::vector<double>(by_rows ? in : out));
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    for (std::size_t k = 0; k < vectors[i].size(); ++k) vectors[i][k] = stream.normal_at(index(i, k));
  }
  orthonormalize(vectors);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    for (std::size_t k = 0; k < vectors[i].size(); ++k) value.set(index(i, k), gain * vectors[i][k]);
  }
}

void fill_identity(Tensor& value, double gain) {
  value.fill(0);
  const std::int64_t columns = value.size(1);
  for (std::int64_t i = 0; i < std::min(value.size(0), columns); ++i) value.set(i * columns + i, gain);
}

}  // namespace

std::string Initializer::obstacle(const Shape& shape) const {
  if (needs_matrix() && shape.size() != 2) return "is for matrices [out, in]";
  if (kind != Kind::henaff && kind != Kind::cayley) return "";
  const std::int64_t n = side_of_triangle(element_count(shape));
  if (shape.size() == 1 && n * (n - 1) / 2 == shape[0]) return "";
  return "is for the numbers [n (n - 1) / 2] above a diagonal";
}

Initializer Initializer::uniform_of(std::int64_t n) {
  const double bound = 1 / std::sqrt(static_cast<double>(n));
  return uniform(-bound, bound);
}

void initialize(Tensor& value, const Initializer& initializer, std::uint64_t seed, std::string_view name) {
  if (const std::string obstacle = initializer.obstacle(value.shape()); !obstacle.empty())
    throw InputError({.op = "initialize"}, Rule::shape, text_of("this initializer ", obstacle),
                     text_of(name, " ", to_string(value.shape())));
  const RandomStream stream = stream_of(seed, name);
  const double a = initializer.a, b = initializer.b;
  const double out = initializer.needs_matrix() ? static_cast<double>(value.size(0)) : 1;
  const double in = initializer.needs_matrix() ? static_cast<double>(value.size(1)) : 1;
  const auto symmetric = [&](double bound) { fill_uniform(value, -bound, bound, stream); };
  switch (initializer.kind) {
    case Kind::constant: return value.fill(a);
    case Kind::uniform: return fill_uniform(value, a, b, stream);
    case Kind::normal: return fill_normal(value, a, b, stream);
    case Kind::truncated_normal: return fill_truncated_normal(value, a, b, stream);
    case Kind::log_uniform: return fill_log_uniform(value, a, b, stream);
    case Kind::henaff: return fill_henaff(value, stream);
    case Kind::cayley: return fill_cayley(value, stream);
    case Kind::ramp: return fill_along(value, [&](double k, double) { return a + b * k; });
    case Kind::log_ramp: return fill_along(value, [&](double k, double) { return std::log(a + b * k); });
    case Kind::power_ramp:
      return fill_along(
          value, [&](double k, double last) { return a + (b - a) * std::pow(k / std::max(last, 1.0), 0.3); });
    case Kind::log_of_uniform: return fill_drawn(value, a, b, stream, [](double u) { return std::log(u); });
    case Kind::inverse_softplus:
      return fill_drawn(value, std::log(a), std::log(b), stream,
                        [](double u) { return unsoftened(std::exp(u)); });
    case Kind::decay_8:
      return fill_drawn(value, a, b, stream, [](double u) { return unsoftened(-std::log(u) / 8); });
    case Kind::ring:
      return fill_drawn(value, a * a, b * b, stream, [](double u) { return std::log(-0.5 * std::log(u)); });
    case Kind::ring_gain:
      return fill_drawn(value, a * a, b * b, stream, [](double u) { return 0.5 * std::log1p(-u); });
    case Kind::oscillator_damping:
      return fill_oscillators(value, a, b, stream,
                              [](double dt, double w, double) { return (w * w - 1) / dt; });
    case Kind::oscillator_stiffness:
      return fill_oscillators(value, a, b, stream, [](double dt, double w, double c) {
        return (1 + w * w - 2 * c * w) / (dt * dt);
      });
    case Kind::kaiming_uniform: return symmetric(a * std::sqrt(3 / in));
    case Kind::kaiming_normal: return fill_normal(value, 0, a / std::sqrt(in), stream);
    case Kind::xavier_uniform: return symmetric(a * std::sqrt(6 / (in + out)));
    case Kind::xavier_normal: return fill_normal(value, 0, a * std::sqrt(2 / (in + out)), stream);
    case Kind::orthogonal: return fill_orthogonal(value, a, stream);
    case Kind::identity: return fill_identity(value, a);
  }
}

}  // namespace lagtape
