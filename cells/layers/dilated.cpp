#include "lagtape/cells/layers/dilated.h"

#include "lagtape/cells/build/option_kinds.h"

namespace lagtape {
namespace {

BuildLayer read_dilated(JsonReader& reader, const ReadInner& inner) {
  const BuildLayer build = inner(reader, "of");
  CommonCellOptions common{.needs_dilations = true};
  read_options(reader, kCommonCellOptions, common);
  return common.apply(build);
}

}  // namespace

constinit const LayerEntry Dilated::kEntry = {
    .name = "dilated",
    .summary = "layers of any cell in which the step before is d steps back",
    .source = "Dilated Recurrent Neural Networks",
    .equations =
        "h' = F(h[-(d - 1)], x), F the step of the cell and d the dilation of the layer\n"
        "one layer for each of the dilations, from the input up",
    .read_around = read_dilated,
};

}  // namespace lagtape
