#include "lagtape/cells/written/min_gru.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

constexpr Option kMinGruOptions[] = {
    required<&MinGru::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&MinGru::candidate>(
        "candidate", {"linear", "positive"},
        "values that the gate writes: as they are, or above 0, as a scan of logarithms needs"),
};

constinit const LayerEntry MinGru::kEntry = {
    .name = "min_gru",
    .summary = "minimal GRU: gate and candidate see the input alone",
    .source = "Were RNNs All We Needed?, Section 3.1; positive candidates: Appendix B",
    .equations =
        "z = sigmoid(W_z @ x + W_z.bias)\n"
        "c = W_h @ x + W_h.bias\n"
        "h' = (1 - z) * h + z * c\n"
        "candidate \"positive\": c = where(a >= 0, a + 0.5, sigmoid(a)), a = W_h @ x + W_h.bias",
    .options = kMinGruOptions,
    .read = read_cell<MinGru>,
    .yields = true,
};

Layer MinGru::build(std::int64_t input) const {
  require_valid(*this);
  const Initializer start = Initializer::uniform_of(input);
  return WrittenCell{
      .weights = affine_shapes("W_z", "units", "input") + affine_shapes("W_h", "units", "input"),
      .states = "h [units]",
      .step = text_of("z = sigmoid(W_z @ x + W_z.bias)\na = W_h @ x + W_h.bias\nc = ",
                      candidate == "positive" ? "where(a >= 0, a + 0.5, sigmoid(a))" : "a",
                      "\nh' = (1 - z) * h + z * c"),
      .output = "h'",
      .start = start,
      .bias = start}
      .build(units, input);
}

}  // namespace lagtape
