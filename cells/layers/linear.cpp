#include "lagtape/cells/layers/linear.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {
namespace {

constexpr Choices kNames = {"linear", "kaiming_normal"};

void read_init(JsonReader& reader, const Option& option, Linear::Init& init) {
  const std::string key(option.key);
  const Json& given = reader.raw(key, "");
  if (given.is_object()) return kInitialValues.read(reader, option, &init.values);
  if (given.is_string()) {
    reader.choice(key, init.name, kNames.names(), "");
  } else if (!given.is_null()) {
    reader.error(key, text_of("expected a name or an object of parameters, got ", given.dump()));
  }
}

Json init_json(const Option& option, const Linear::Init& init) {
  return init.values.entries.empty() ? Json(init.name) : kInitialValues.write(option, &init.values);
}

Json init_schema(const Option& option) {
  const Json values = kInitialValues.schema(option);
  return either_schema({Json{{"enum", kNames.names()}}, values["anyOf"][0], values["anyOf"][1]});
}

}  // namespace

constinit const OptionKindOf<Linear::Init> kLinearInit =
    option_kind<Linear::Init, read_init, init_json, init_schema>();

constexpr Option kLinearOptions[] = {
    required<&Linear::units>("units", between(1, kLargestUnits), "size of the output"),
    option<&Linear::init>("init", kLinearInit, kAboutLinearInit),
};

constinit const LayerEntry Linear::kEntry = {
    .name = "linear",
    .kind = "layer",
    .summary = "affine map of every step",
    .source = "",
    .equations = "y = W @ x + W.bias",
    .options = kLinearOptions,
    .read = read_layer<Linear>,
};

Layer Linear::build(std::int64_t input) const {
  return build(input, [](LayerRecorder&, StepVar z) { return z; });
}

Layer Linear::build(std::int64_t input,
                    const std::function<StepVar(LayerRecorder& step, StepVar z)>& f) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(input));
  const StepVar y = f(step, step.affine("W", units, step.input()));
  LayerGroup group{{step.finish(y)}, false};
  if (init.name == "kaiming_normal")
    group.layers[0].parameters[0].initializer = Initializer::kaiming_normal();
  init.values.apply(group);
  return std::move(group.layers[0]);
}

}  // namespace lagtape
