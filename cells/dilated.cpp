#include "lagtape/cells/dilated.h"

#include "lagtape/cells/every_cell.h"

namespace lagtape {

BuildLayer read_dilated(JsonReader& reader, const ReadInner& inner) {
  const BuildLayer build = inner(reader, "of");
  EveryCell every;
  every.arithmetic.reset();
  every.needs_dilations = true;
  every.read(reader);
  return every.apply(build);
}

}  // namespace lagtape
