#include "lagtape/ops/recurrence/step/draws.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

namespace lagtape {
namespace {

constexpr DrawDefinition kUniform{DrawDefinition::Kind::uniform, true, 0};
constexpr DrawDefinition kNormal{DrawDefinition::Kind::normal, true, 0};

TEST_CASE("each part of a draw's place makes another draw") {
  const auto at = [](std::uint64_t seed, std::uint64_t epoch, std::int64_t sequence, std::int64_t step,
                     std::int64_t unit, int layer, int index) {
    return draw_at(kUniform, seed, epoch, sequence, step, unit, layer, index);
  };
  const std::set<double> draws = {at(0, 0, 0, 0, 0, 0, 0), at(1, 0, 0, 0, 0, 0, 0), at(0, 1, 0, 0, 0, 0, 0),
                                  at(0, 0, 1, 0, 0, 0, 0), at(0, 0, 0, 1, 0, 0, 0), at(0, 0, 0, 0, 1, 0, 0),
                                  at(0, 0, 0, 0, 0, 1, 0), at(0, 0, 0, 0, 0, 0, 1)};
  CHECK(draws.size() == 8);
  CHECK(at(3, 1, 4, 1, 5, 9, 2) == at(3, 1, 4, 1, 5, 9, 2));
  CHECK(at(0, 0, 0, std::int64_t{1} << 33, 0, 0, 0) != at(0, 0, 0, 0, 0, 0, 0));
}

TEST_CASE("a draw for the whole sequence is the same at every step") {
  const DrawDefinition once{DrawDefinition::Kind::normal, false, 0};
  CHECK(draw_at(once, 1, 2, 3, 0, 4, 5, 6) == draw_at(once, 1, 2, 3, 700, 4, 5, 6));
  CHECK(draw_at(kNormal, 1, 2, 3, 0, 4, 5, 6) != draw_at(kNormal, 1, 2, 3, 700, 4, 5, 6));
  CHECK(draw_at(once, 1, 2, 3, 0, 4, 5, 6) != draw_at(once, 1, 2, 3, 0, 5, 5, 6));
}

TEST_CASE("draws are uniform in [0, 1) and standard normal, and neighbors do not know one another") {
  constexpr int kCount = 40'000;
  double sum = 0, squares = 0, neighbors = 0, before = 0, normal_sum = 0, normal_squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = draw_at(kUniform, 9, 0, i / 400, i / 20 % 20, i % 20, 0, 0);
    CHECK_UNARY(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
    neighbors += (u - 0.5) * (before - 0.5);
    before = u;
    const double z = draw_at(kNormal, 9, 0, i / 400, i / 20 % 20, i % 20, 0, 0);
    normal_sum += z;
    normal_squares += z * z;
  }
  // Five standard deviations of each mean.
  CHECK(std::abs(sum / kCount - 0.5) < 5 * std::sqrt(1.0 / 12 / kCount));
  CHECK(std::abs(squares / kCount - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / kCount));
  CHECK(std::abs(neighbors / kCount) < 5 / 12.0 / std::sqrt(kCount));
  CHECK(std::abs(normal_sum / kCount) < 5 / std::sqrt(kCount));
  CHECK(std::abs(normal_squares / kCount - 1) < 5 * std::sqrt(2.0 / kCount));
}

}  // namespace
}  // namespace lagtape
