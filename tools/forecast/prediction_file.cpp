#include "lagtape/tools/forecast/prediction_file.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/data/table/number.h"
#include "lagtape/tools/forecast/result_columns.h"

namespace lagtape {

namespace {

using Texts = std::vector<std::string>;

std::string text_of_cell(const LeadingColumn& column, std::size_t row) {
  const auto* texts = std::get_if<Texts>(&column.cells);
  return texts ? csv_cell((*texts)[row])
               : std::to_string(std::get<std::vector<std::int64_t>>(column.cells)[row]);
}

/// The columns before those of the targets.
std::vector<LeadingColumn> leading_columns(const PredictedTargets& predicted) {
  std::vector<LeadingColumn> columns = predicted.leading;
  if (!predicted.labels.empty()) columns.insert(columns.begin(), {"time", predicted.labels});
  columns.insert(columns.begin(), predicted.ids.begin(), predicted.ids.end());
  return columns;
}

std::string npz_bytes(const PredictedTargets& predicted) {
  NpzWriter writer;
  if (!predicted.times.empty()) write_array(writer, "time", predicted.times, "<M8[ns]");
  for (const auto* columns : {&predicted.ids, &predicted.leading})
    for (const LeadingColumn& column : *columns)
      std::visit([&](const auto& cells) { write_array(writer, column.name, cells); }, column.cells);
  write_array(writer, "targets", predicted.targets);
  for (const auto& [name, values] : parts_of(predicted)) write_array(writer, name, *values);
  return writer.finish();
}

}  // namespace

std::string csv_of(const PredictedTargets& predicted) {
  const std::int64_t width = std::ssize(predicted.targets);
  const std::vector<LeadingColumn> columns = leading_columns(predicted);
  std::string text;
  for (const LeadingColumn& column : columns) text += text_of(text.empty() ? "" : ",", csv_cell(column.name));
  for (std::int64_t i = 0; i < width; ++i)
    for (const auto& [name, values] : parts_of(predicted))
      text += text_of(",", csv_cell(prefix_of(predicted, i) + name));
  text += '\n';
  for (std::int64_t row = 0; row < predicted.rows(); ++row) {
    const std::size_t begin = text.size();
    for (const LeadingColumn& column : columns)
      text += text_of(text.size() == begin ? "" : ",", text_of_cell(column, static_cast<std::size_t>(row)));
    for (std::int64_t i = 0; i < width; ++i)
      for (const auto& [name, values] : parts_of(predicted))
        text +=
            std::isnan(values->at(row * width + i)) ? "," : text_of(",", csv_cell(*values, row * width + i));
    text += '\n';
  }
  return text;
}

Json json_of(const PredictedTargets& predicted) {
  Json json = Json::object();
  for (const LeadingColumn& column : leading_columns(predicted))
    std::visit([&](const auto& cells) { json[column.name] = cells; }, column.cells);
  const std::int64_t width = std::ssize(predicted.targets);
  Json& targets = json["targets"] = Json::object();
  for (std::int64_t i = 0; i < width; ++i)
    for (const auto& [name, values] : parts_of(predicted)) {
      Json column = Json::array();
      for (std::int64_t at = i; at < values->numel(); at += width)
        column.push_back(std::isfinite(values->at(at)) ? Json(*parse_number(csv_cell(*values, at))) : Json());
      targets[predicted.targets[static_cast<std::size_t>(i)]][name] = std::move(column);
    }
  return json;
}

std::string file_of(const PredictedTargets& predicted, std::string_view ending) {
  if (ending == ".json") return json_of(predicted).dump(2) + "\n";
  return ending == ".npz" ? npz_bytes(predicted) : csv_of(predicted);
}

}  // namespace lagtape
