#include "lagtape/data/table/table_options.h"

#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {

namespace {

constexpr double kMostLines = 1e6;

// ---- Lines before the table: a number, or "auto" ---------------------------------------------------------------

void read_lines(JsonReader& reader, const Option& option, std::int64_t& lines) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_null() || given == "auto") return;
  if (given.is_number_unsigned() && given.get<double>() <= kMostLines) {
    lines = given.get<std::int64_t>();
  } else {
    reader.error(key, text_of("expected \"auto\" or a number of lines from 0. Got ", given.dump(), "."));
  }
}

Json lines_json(const Option&, const std::int64_t& lines) { return lines < 0 ? Json("auto") : Json(lines); }
Json lines_schema(const Option&) {
  return either_schema(
      {integer_schema(between(0, kMostLines)), Json{{"const", "auto"}}, Json{{"type", "null"}}});
}

constexpr OptionKindOf<std::int64_t> kLines =
    option_kind<std::int64_t, read_lines, lines_json, lines_schema>();

constexpr Option kTableRows[] = {
    option<&TableOptions::separator>(
        "separator", Choices{{"auto", '\0'}, {",", ','}, {";", ';'}, {"\t", '\t'}, {"|", '|'}},
        "character between two columns"),
    option<&TableOptions::decimal>("decimal", Choices{{".", '.'}, {",", ','}},
                                   "decimal point of the numbers"),
    option<&TableOptions::thousands>(
        "thousands",
        Choices{{"auto", '\0'},
                {"none", TableOptions::kNoThousands},
                {",", ','},
                {".", '.'},
                {" ", ' '},
                {"'", '\''}},
        "separator of thousands. \"auto\": a column decides by all of its cells, "
        "or it is an error that asks"),
    option<&TableOptions::skip_rows>(
        "skip_rows", kLines,
        "lines before the table. \"auto\": comments, and lines with other numbers of cells than the table"),
    option<&TableOptions::strip_units>(
        "units", Choices{{"error", false}, {"strip", true}},
        "treatment of units in cells, such as 12 % or 100 kW: an error, or they are left out where a whole "
        "column has the same"),
    option<&TableOptions::missing_codes>(
        "missing_codes", "numbers that mark a missing one, such as [-200, -999]; `missing` treats them"),
};

void check_table(const TableOptions& options, JsonReader& reader) {
  if (options.thousands == options.decimal)
    reader.error("thousands", "is the decimal point. Expected another character.");
}

}  // namespace

constinit const OptionTable kTableOptions = checked<check_table>(kTableRows);

}  // namespace lagtape
