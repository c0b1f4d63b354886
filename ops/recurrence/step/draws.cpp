#include "lagtape/ops/recurrence/step/draws.h"

#include "lagtape/core/random.h"

namespace lagtape {

std::uint64_t draw_key(std::uint64_t seed, std::uint64_t epoch, std::int64_t sequence, int layer,
                       int draw_index) {
  constexpr std::uint64_t kUse = 0x64726177;  // "draw": no other use of a seed shares these streams
  const auto part = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return stream_name({kUse, seed, epoch, part(sequence), part(layer), part(draw_index)});
}

double draw_at(const DrawDefinition& draw, std::uint64_t key, std::int64_t step, std::int64_t unit) {
  const RandomStream stream(key, static_cast<std::uint64_t>(unit));
  const std::uint64_t position = draw.every_step ? static_cast<std::uint64_t>(step) : 0;
  switch (draw.kind) {
    case DrawDefinition::Kind::uniform: return stream.uniform_at(position);
    case DrawDefinition::Kind::normal: return stream.normal_at(position);
    case DrawDefinition::Kind::mask: return stream.uniform_at(position) < draw.rate ? 0 : 1 / (1 - draw.rate);
  }
  return 0;
}

double draw_at(const DrawDefinition& draw, std::uint64_t seed, std::uint64_t epoch, std::int64_t sequence,
               std::int64_t step, std::int64_t unit, int layer, int draw_index) {
  return draw_at(draw, draw_key(seed, epoch, sequence, layer, draw_index), step, unit);
}

}  // namespace lagtape
