#include "lagtape/cells/written/min_lstm.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

constexpr Option kMinLstmOptions[] = {
    required<&MinLstm::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&MinLstm::candidate>(
        "candidate", {"linear", "positive"},
        "values that the gates write: as they are, or above 0, as a scan of logarithms needs"),
};

constinit const LayerEntry MinLstm::kEntry = {
    .name = "min_lstm",
    .summary = "minimal LSTM: gates of sum 1 and candidate see the input alone",
    .source = "Were RNNs All We Needed?, Section 3.2; positive candidates: Appendix B",
    .equations =
        "f = sigmoid(W_f @ x + W_f.bias), i = sigmoid(W_i @ x + W_i.bias)\n"
        "c = W_h @ x + W_h.bias\n"
        "h' = f / (f + i) * h + i / (f + i) * c\n"
        "candidate \"positive\": c = where(a >= 0, a + 0.5, sigmoid(a)), a = W_h @ x + W_h.bias",
    .options = kMinLstmOptions,
    .read = read_cell<MinLstm>,
    .yields = true,
};

Layer MinLstm::build(std::int64_t input) const {
  require_valid(*this);
  const Initializer start = Initializer::uniform_of(input);
  return WrittenCell{
      .weights = affine_shapes("W_f", "units", "input") + affine_shapes("W_i", "units", "input") +
                 affine_shapes("W_h", "units", "input"),
      .states = "h [units]",
      .step = text_of("f = sigmoid(softplus(-(W_i @ x + W_i.bias)) - softplus(-(W_f @ x + W_f.bias)))\n"
                      "a = W_h @ x + W_h.bias\nc = ",
                      candidate == "positive" ? "where(a >= 0, a + 0.5, sigmoid(a))" : "a",
                      "\nh' = f * h + (1 - f) * c"),
      .output = "h'",
      .start = start,
      .bias = start}
      .build(units, input);
}

}  // namespace lagtape
