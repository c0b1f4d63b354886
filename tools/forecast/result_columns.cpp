#include "lagtape/tools/forecast/result_columns.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/json/json.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

using Texts = std::vector<std::string>;

std::int64_t rows_of(const ResultColumn& column) {
  const auto* texts = std::get_if<Texts>(&column.cells);
  return texts ? std::ssize(*texts) : std::get<Tensor>(column.cells).numel();
}

/// A number as the .csv file has it; "" where it is not known.
std::string number_text(const Tensor& numbers, std::int64_t row) {
  return std::isnan(numbers.at(row)) ? "" : csv_cell(numbers, row);
}

std::string csv_text(const std::vector<ResultColumn>& columns) {
  std::string text;
  for (const ResultColumn& column : columns) text += text_of(text.empty() ? "" : ",", csv_cell(column.name));
  text += '\n';
  for (std::int64_t row = 0; row < rows_of(columns.front()); ++row) {
    for (const ResultColumn& column : columns) {
      const auto* texts = std::get_if<Texts>(&column.cells);
      if (&column != &columns.front()) text += ',';
      text += texts ? csv_cell((*texts)[static_cast<std::size_t>(row)])
                    : number_text(std::get<Tensor>(column.cells), row);
    }
    text += '\n';
  }
  return text;
}

std::string json_text(const std::vector<ResultColumn>& columns) {
  Json json = Json::object();
  for (const ResultColumn& column : columns) {
    const auto* texts = std::get_if<Texts>(&column.cells);
    Json& list = json[column.name] = Json::array();
    for (std::int64_t row = 0; row < rows_of(column); ++row) {
      const std::string cell =
          texts ? (*texts)[static_cast<std::size_t>(row)] : number_text(std::get<Tensor>(column.cells), row);
      list.push_back(cell.empty() ? Json() : texts ? Json(cell) : Json(*parse_number(cell)));
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace

std::string file_of(const std::vector<ResultColumn>& columns, std::string_view ending) {
  if (ending == ".json") return json_text(columns);
  if (ending != ".npz") return csv_text(columns);
  NpzWriter writer;
  for (const ResultColumn& column : columns)
    std::visit([&](const auto& cells) { write_array(writer, column.name, cells); }, column.cells);
  return writer.finish();
}

void write_array(NpzWriter& writer, const std::string& name, const std::vector<std::int64_t>& numbers,
                 const char* type) {
  writer.begin(name, type, {std::ssize(numbers)});
  writer.write(numbers.data(), numbers.size() * sizeof(std::int64_t));
}

void write_array(NpzWriter& writer, const std::string& name, const Texts& texts) {
  std::vector<std::u32string> wide;
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    wide.push_back(code_points(text));
    longest = std::max(longest, wide.back().size());
  }
  writer.begin(name, text_of("<U", longest), {std::ssize(texts)});
  for (std::u32string& text : wide) {
    text.resize(longest);
    writer.write(text.data(), longest * sizeof(char32_t));
  }
}

void write_array(NpzWriter& writer, const std::string& name, const Tensor& numbers) {
  with_scalar(numbers.dtype(), [&]<class T>() {
    writer.begin(name, sizeof(T) == sizeof(float) ? "<f4" : "<f8", numbers.shape());
    writer.write(numbers.values<T>().data(), numbers.values<T>().size_bytes());
  });
}

}  // namespace lagtape
