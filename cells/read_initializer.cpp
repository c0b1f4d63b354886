#include <numbers>

#include "lagtape/cells/equation_cell.h"

namespace lagtape {
namespace {

using Kind = Initializer::Kind;

struct InitializerRow {
  std::string_view name;
  Initializer::Kind kind;
  std::string_view a, b;  ///< keys of its numbers; empty: none
  double default_a = 0, default_b = 0;
};

constexpr InitializerRow kInitializers[] = {
    {"zeros", Kind::constant, "", ""},
    {"ones", Kind::constant, "", "", 1},
    {"constant", Kind::constant, "value", ""},
    {"uniform", Kind::uniform, "low", "high", -1, 1},
    {"normal", Kind::normal, "mean", "deviation", 0, 1},
    {"log_uniform", Kind::log_uniform, "scale", "largest", 1, 2},
    {"henaff", Kind::henaff, "", ""},
    {"cayley", Kind::cayley, "", ""},
    {"ramp", Kind::ramp, "first", "step", 0, 1},
    {"kaiming_uniform", Kind::kaiming_uniform, "gain", "", std::numbers::sqrt2},
    {"kaiming_normal", Kind::kaiming_normal, "gain", "", std::numbers::sqrt2},
    {"xavier_uniform", Kind::xavier_uniform, "gain", "", 1},
    {"xavier_normal", Kind::xavier_normal, "gain", "", 1},
    {"orthogonal", Kind::orthogonal, "gain", "", 1},
};

}  // namespace

Initializer read_initializer(const Json& value, const std::string& pointer, JsonErrors& errors) {
  const Json object = value.is_string() ? Json{{"type", value}} : value;
  std::vector<std::string> names;
  for (const InitializerRow& row : kInitializers) names.emplace_back(row.name);

  JsonReader reader(object, pointer, errors);
  std::string type;
  reader.required_choice("type", type, names, "kind of first values");
  for (const InitializerRow& row : kInitializers) {
    if (row.name != type) continue;
    Initializer result{row.kind, row.default_a, row.default_b};
    if (!row.a.empty()) reader.optional(std::string(row.a), result.a, {}, "");
    if (!row.b.empty()) reader.optional(std::string(row.b), result.b, {}, "");
    if (result.kind == Kind::uniform && result.a > result.b)
      reader.error("low", "low must not be above high.");
    if (result.kind == Kind::normal && result.b < 0)
      reader.error("deviation", "a deviation must be at least 0.");
    if (result.kind == Kind::log_uniform && result.b < 1)
      reader.error("largest", "the largest value under the logarithm must be at least 1.");
    reader.finish();
    return result;
  }
  return {};
}

}  // namespace lagtape
