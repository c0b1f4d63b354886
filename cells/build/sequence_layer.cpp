#include "lagtape/cells/build/sequence_layer.h"

#include "lagtape/core/random.h"

namespace lagtape {

DrawKey draws_of_part(const DrawKey& draws, std::size_t part) {
  constexpr std::uint64_t kUse = 0x70617274;  // "part"
  DrawKey own = draws;
  if (part > 0) own.seed = stream_name({kUse, draws.seed, part});
  return own;
}

}  // namespace lagtape
