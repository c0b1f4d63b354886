#include "lagtape/ops/recurrence/draws.h"

#include "lagtape/core/random.h"

namespace lagtape {

double draw_at(const DrawDefinition& draw, std::uint64_t seed, std::uint64_t epoch, std::int64_t sequence,
               std::int64_t step, std::int64_t unit, int layer, int draw_index) {
  constexpr std::uint64_t kUse = 0x64726177;  // "draw": no other use of a seed shares these streams
  const auto part = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t key = stream_name({kUse, seed, epoch, part(sequence), part(layer), part(draw_index)});
  const RandomStream stream(key, part(unit));
  const std::uint64_t position = draw.every_step ? part(step) : 0;
  switch (draw.kind) {
    case DrawDefinition::Kind::uniform: return stream.uniform_at(position);
    case DrawDefinition::Kind::normal: return stream.normal_at(position);
    case DrawDefinition::Kind::mask: return stream.uniform_at(position) < draw.rate ? 0 : 1 / (1 - draw.rate);
  }
  return 0;
}

}  // namespace lagtape
