#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace lagtape::table {

constexpr double kNotPrinted = std::numeric_limits<double>::quiet_NaN();

/// A row of a printed table: the paper's numbers, and the experiment that is to reach them.
struct Row {
  std::string name;   ///< as a reader knows it
  std::string model;  ///< MODEL.json in the table's folder; empty where the printed number stands alone
  double printed = kNotPrinted;
  double printed_deviation = kNotPrinted;  ///< over the paper's seeds
  std::int64_t printed_parameters = 0;     ///< of the paper's model; 0 where the paper does not say
  std::string source;                      ///< where it is printed, if not where the others are
  std::string note;
};

/// A table of a paper, as TASK/table.json beside the experiments has it.
struct PaperTable {
  std::filesystem::path folder;
  std::string title;
  std::string source;
  std::string metric;  ///< of the test set, by which rows are compared
  bool larger_is_better = false;
  std::string unit;         ///< what the numbers of the table are called
  double scale = 1;         ///< numbers of the table are metric * scale
  std::int64_t digits = 2;  ///< decimals that are shown
  std::int64_t seeds = 1;   ///< runs of a model, unless the user wants more or fewer
  std::vector<Row> rows;

  std::string task() const { return folder.filename().string(); }
  std::filesystem::path experiment(const Row& row) const { return folder / (row.model + ".json"); }
};

/// Reads FOLDER/table.json. Throws InputError with all of its errors at once: "FILE: /json/pointer: ...".
PaperTable read_paper_table(const std::filesystem::path& folder);

/// The rows that are to be run: those with an experiment, or only the models that are named. Throws
/// InputError for a name that is no row's.
std::vector<std::size_t> chosen_rows(const PaperTable& table, const std::vector<std::string>& only);

}  // namespace lagtape::table
