#include "lagtape/ops/recurrence/draws.h"

#include <cmath>
#include <numbers>

#include "lagtape/core/random.h"

namespace lagtape {
namespace {

constexpr std::uint64_t kUse = 0x64726177;  // "draw": no other use of a seed shares these streams

std::uint32_t low(std::int64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::int64_t value) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32);
}

/// In [0, 1), from the upper 53 of 64 bits.
double uniform(std::uint32_t first, std::uint32_t second) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(first) << 32) | second;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

double draw_at(const DrawDefinition& draw, std::uint64_t seed, std::uint64_t epoch, std::int64_t sequence,
               std::int64_t step, std::int64_t unit, int layer, int draw_index) {
  const std::uint64_t key =
      stream_name({kUse, seed, epoch, static_cast<std::uint64_t>(sequence), static_cast<std::uint64_t>(layer),
                   static_cast<std::uint64_t>(draw_index)});
  if (!draw.every_step) step = 0;
  const auto words = philox({low(step), high(step), low(unit), high(unit)}, key);
  const double first = uniform(words[0], words[1]);
  if (draw.kind == DrawDefinition::Kind::uniform) return first;
  const double angle = 2 * std::numbers::pi * uniform(words[2], words[3]);
  return std::sqrt(-2 * std::log(1 - first)) * std::cos(angle);  // Box-Muller
}

}  // namespace lagtape
