#include "lagtape/cells/layers/linear.h"

#include <algorithm>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

constinit const LayerEntry Linear::kEntry = {
    .name = "linear",
    .kind = "layer",
    .summary = "affine map of every step",
    .source = "",
    .equations = "y = W @ x + W.bias",
    .read = read_layer<Linear>,
};

void Linear::Init::read(JsonReader& reader) {
  const Json& given = reader.raw(
      "init",
      text_of("first values: all from U(+-1/sqrt(input)), or the matrix from N(0, 2 / input), or an ",
              "object of parameters by name"),
      R"("linear" | "kaiming_normal" | object)", Json(name).dump());
  const std::vector<std::string> known = {"linear", "kaiming_normal"};
  if (given.is_object()) return reader.fill("init", read_initial_values(given, reader, values));
  if (given.is_string() && std::ranges::find(known, given.get<std::string>()) == known.end()) {
    reader.error("init", unknown_name("value", given.get<std::string>(), known));
  } else if (given.is_string()) {
    name = given.get<std::string>();
  } else if (!given.is_null()) {
    reader.error("init", text_of("expected a name or an object of parameters, got ", given.dump()));
  }
  reader.fill("init", values.entries.empty() ? Json(name) : json_of(values));
}

void Linear::read(JsonReader& reader) {
  reader.required("units", units, between(1, kLargestUnits), "size of the output");
  init.read(reader);
}

Layer Linear::build(std::int64_t input) const {
  check(*this);
  LayerRecorder step(input, Initializer::uniform_of(input));
  const StepVar y = step.affine("W", units, step.input());
  LayerGroup group{{step.finish(y)}, false};
  if (init.name == "kaiming_normal")
    group.layers[0].parameters[0].initializer = Initializer::kaiming_normal();
  init.values.apply(group);
  return std::move(group.layers[0]);
}

}  // namespace lagtape
