#include "lagtape/cells/written/cfc.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

constexpr Option kCfcOptions[] = {
    required<&Cfc::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&Cfc::backbone>("backbone", between(1, kLargestUnits), "size of the backbone's maps"),
    option<&Cfc::backbone_layers>("backbone_layers", between(0, 16), "number of the backbone's maps"),
    option<&Cfc::elapsed>("elapsed",
                          "whether the last input is the time since the step before, in place of 1"),
};

constinit const LayerEntry Cfc::kEntry = {
    .name = "cfc",
    .summary = "closed-form continuous-time network, for data at uneven times too",
    .source = "Closed-form continuous-time neural networks, the closed-form solution with a gate of time",
    .equations =
        "b = 1.7159 * tanh(0.666 * (W_b @ x + U_b @ h + W_b.bias)), further backbone layers likewise\n"
        "g = tanh(W_g @ b + W_g.bias), k = tanh(W_k @ b + W_k.bias)\n"
        "s = sigmoid((W_s @ b + W_s.bias) * t + W_t @ b + W_t.bias), t = 1, or the last input (elapsed)\n"
        "h' = (1 - s) * g + s * k",
    .options = kCfcOptions,
    .read = read_cell<Cfc>,
    .yields = true,
};

Layer Cfc::build(std::int64_t input) const {
  require_valid(*this);
  const std::int64_t seen = inputs_beside_time(elapsed, input);
  WrittenCell cell{.states = "h [units]", .step = elapsed_text(elapsed), .output = "h'"};
  cell.numbers = {{"seen", static_cast<double>(seen)}};
  if (backbone_layers > 0) cell.numbers.emplace_back("backbone", static_cast<double>(backbone));
  // A map of x and h, or of the backbone layer below.
  const auto map = [&](const std::string& name, const std::string& below, std::int64_t size) {
    const std::string out = size == units ? "units" : "backbone";
    const double in = static_cast<double>(below.empty() ? seen + units : backbone);
    const double bound = std::sqrt(6 / (in + static_cast<double>(size)));
    cell.init["W_" + name] = cell.init["U_" + name] = Initializer::uniform(-bound, bound);
    cell.init["W_" + name + ".bias"] = Initializer::uniform(-1 / std::sqrt(in), 1 / std::sqrt(in));
    cell.weights += affine_shapes("W_" + name, out, below.empty() ? "seen" : "backbone");
    if (!below.empty()) return affine_text("W_" + name, below);
    cell.weights += text_of("U_", name, " [", out, ", units]; ");
    return text_of("W_", name, " @ seen_x + U_", name, " @ h + W_", name, ".bias");
  };
  std::string b;
  for (std::int64_t layer = 1; layer <= backbone_layers; ++layer) {
    const std::string next = layer == 1 ? "b" : text_of("b", layer);
    cell.step += text_of(next, " = 1.7159 * tanh(0.666 * (", map(next, b, backbone), "))\n");
    b = next;
  }
  const std::string g = map("g", b, units), k = map("k", b, units);
  const std::string s = map("s", b, units), t = map("t", b, units);
  cell.step += text_of("g = tanh(", g, ")\nk = tanh(", k, ")\ns = sigmoid((", s, ") * t + (", t,
                       "))\nh' = (1 - s) * g + s * k");
  return cell.build(units, input);
}

}  // namespace lagtape
