#include "lagtape/data/table/table_options.h"

#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/core/quote.h"

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

// ---- Codes of missing numbers: a list, or an object of lists by column --------------------------------------------

std::vector<double> numbers_of(const Json& list, JsonReader& reader, const std::string& key,
                               const std::string& whose = "") {
  std::vector<double> numbers;
  bool fits = list.is_array();
  for (std::size_t i = 0; fits && i < list.size(); ++i) {
    fits = list[i].is_number();
    if (fits) numbers.push_back(list[i].get<double>());
  }
  if (!fits) reader.error(key, text_of("expected a list of numbers", whose, ". Got ", list.dump(), "."));
  return numbers;
}

void read_codes(JsonReader& reader, const Option& option, TableOptions& options) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_null()) return;
  if (given.is_object()) {
    for (const auto& [column, list] : given.items())
      options.codes_by_column[column] = numbers_of(list, reader, key, " for the column " + quote(column));
  } else if (given.is_array()) {
    options.missing_codes = numbers_of(given, reader, key);
  } else {
    reader.error(
        key, text_of("expected a list of numbers, or an object of lists by column. Got ", given.dump(), "."));
  }
}

Json codes_json(const Option&, const TableOptions& options) {
  if (options.codes_by_column.empty()) return options.missing_codes;
  Json object = Json::object();
  for (const auto& [column, codes] : options.codes_by_column) object[column] = codes;
  return object;
}
Json codes_schema(const Option&) {
  const Json numbers = list_schema({{"type", "number"}});
  return either_schema({numbers, object_schema_of(numbers), Json{{"type", "null"}}});
}

constexpr OptionKindOf<TableOptions> kCodes =
    option_kind<TableOptions, read_codes, codes_json, codes_schema>();

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
        "separator of thousands. \"auto\": found from all cells of a column, or an error asks"),
    option<&TableOptions::skip_rows>(
        "skip_rows", kLines,
        "lines before the table. \"auto\": comments, and lines with other numbers of cells than the table"),
    option<&TableOptions::strip_units>("units", Choices{{"error", false}, {"strip", true}},
                                       "treatment of units in cells, such as 12 % or 100 kW: an error, or "
                                       "left out where a whole column has the same"),
    whole<TableOptions>("missing_codes", kCodes,
                        "numbers that mark a missing one, such as [-200, -999], or of single columns: "
                        "{\"pump\": [-1]}; `missing` treats them"),
};

void check_table(const TableOptions& options, JsonReader& reader) {
  if (options.thousands == options.decimal)
    reader.error("thousands", "is the decimal point. Expected another character.");
}

}  // namespace

TableOptions TableOptions::of_column(const std::string& name) const {
  TableOptions own = *this;
  if (const auto codes = codes_by_column.find(name); codes != codes_by_column.end())
    own.missing_codes = codes->second;
  return own;
}

constinit const OptionTable kTableOptions = checked<check_table>(kTableRows);

}  // namespace lagtape
