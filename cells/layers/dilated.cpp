#include "lagtape/cells/layers/dilated.h"

#include "lagtape/cells/common_options.h"

namespace lagtape {

BuildLayer read_dilated(JsonReader& reader, const ReadInner& inner) {
  const BuildLayer build = inner(reader, "of");
  CommonCellOptions every;
  every.arithmetic.reset();
  every.needs_dilations = true;
  every.read(reader);
  return every.apply(build);
}

}  // namespace lagtape
