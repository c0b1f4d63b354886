#include "lagtape/cells/build/option_kinds.h"

#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {
namespace {

constexpr double kLargestDilation = 1 << 20;

// ---- First values -----------------------------------------------------------------------------------------

void read_initial_values(JsonReader& reader, const Option& option, InitialValues& values) {
  const std::string key(option.key);
  const Json& given = reader.raw(key, "");
  if (given.is_null()) return;
  const JsonReader names(given, reader.pointer_to(key), reader.errors());
  if (!names.is_object()) return;
  values.entries.clear();
  for (const auto& [name, value] : given.items()) {
    InitialValues::Entry& entry = values.entries.emplace_back();
    entry.name = name;
    entry.pointer = names.pointer_to(name);
    entry.initializer = read_initializer(value, entry.pointer, reader.errors(), &entry.type);
  }
}

Json initial_values_json(const Option&, const InitialValues& values) {
  Json object = Json::object();
  for (const InitialValues::Entry& entry : values.entries)
    object[entry.name] = json_of(entry.initializer, entry.type);
  return object;
}

Json initial_values_schema(const Option&) {
  return or_null(object_schema_of(reference_schema("initializer")));
}

// ---- The time of a step -----------------------------------------------------------------------------------

constexpr double kMostColumns = 1 << 20;

void read_step_time(JsonReader& reader, const Option& option, StepTime& time) {
  const std::string key(option.key);
  const Json& given = reader.raw(key, "");
  if (given.is_null() || (given.is_object() && given.empty())) return;
  JsonReader columns(given, reader.pointer_to(key), reader.errors());
  if (!columns.is_object()) return;
  std::int64_t column = -1;
  columns.required("dt", column, between(-kMostColumns, kMostColumns), "column of the time of a step");
  columns.finish();
  time.column = column;
}

Json step_time_json(const Option&, const StepTime& time) {
  return time.column ? Json{{"dt", *time.column}} : Json::object();
}

Json step_time_schema(const Option&) { return or_null(object_schema_of(integer_schema({}))); }

bool has_arithmetic(const CommonCellOptions& options) { return options.arithmetic.has_value(); }

}  // namespace

constinit const OptionKindOf<InitialValues> kInitialValues =
    option_kind<InitialValues, read_initial_values, initial_values_json, initial_values_schema>();

constinit const OptionKindOf<StepTime> kStepTime =
    option_kind<StepTime, read_step_time, step_time_json, step_time_schema>();

namespace {

constexpr std::string_view kAboutInit =
    "first values of parameters by name; `lagtape list initializers` names the kinds";
constexpr std::string_view kAboutDilations =
    "a layer for each, in which the step before is that many steps back";

constexpr Option kInitRows[] = {whole<InitialValues>("init", kInitialValues, kAboutInit)};

constexpr Option kCommonRows[] = {
    option<&CommonCellOptions::arithmetic>(
        "arithmetic", Choices{{"float", Arithmetic::real}, {"grid", Arithmetic::grid}},
        "arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly")
        .when<has_arithmetic>(),
    required<&CommonCellOptions::dilations>("dilations", between(1, kLargestDilation), kAboutDilations)
        .at_least_one()
        .when<&CommonCellOptions::needs_dilations>(),
    option<&CommonCellOptions::dilations>("dilations", between(1, kLargestDilation), kAboutDilations)
        .unless<&CommonCellOptions::needs_dilations>(),
    option<&CommonCellOptions::residual>("residual", "whether the input is added to the output"),
    option<&CommonCellOptions::init>("init", kInitialValues, kAboutInit),
};

}  // namespace

constinit const OptionTable kInitOption = kInitRows;
constinit const OptionTable kCommonCellOptions = kCommonRows;

}  // namespace lagtape
