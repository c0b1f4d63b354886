#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/sweep/table/run.h"

namespace lagtape::table {

/// The runs of one row and their statistics. Only runs that are done count.
struct Outcome {
  std::vector<const Run*> runs;  ///< the row's runs, by seed
  std::vector<double> values;    ///< the metric of the runs that are done
  /// Statistics of the values, NaN without any; `deviation` is that of a sample, NaN for one value.
  double mean = 0, deviation = 0, best = 0;
  double seconds = 0;       ///< mean duration of a run
  std::int64_t params = 0;  ///< number of the model's parameters; 0: not known
  int count(RunState state) const;
};

Outcome outcome_of(const PaperTable& table, std::size_t row, const std::vector<Run>& runs);

/// By how much the number of parameters of a row's model differs from the printed one, as a sentence. Empty
/// up to 5 %, and where either number is not known.
std::string parameter_difference(const Row& row, const Outcome& outcome);

/// The table as Markdown, followed by remarks on its rows. `command` is the command that repeats it.
std::string markdown(const PaperTable& table, const std::vector<Run>& runs, const std::string& command);

/// The table as one JSON object.
std::string json(const PaperTable& table, const std::vector<Run>& runs);

/// The table's metric during training, a line for each row: the mean over the runs that are done, or over the unfinished
/// ones if none is, with a band of one standard deviation where there are several. On the test set where runs have
/// measured it (TrainOptions::evaluate_test), else on the validation set.
Plot learning_curves(const PaperTable& table, const std::vector<Run>& runs);

/// The table's metric against each numeric setting of its rows (Row::at) of which there are two values: the mean over the
/// runs that are done, with a band of one standard deviation where there are several, and the printed numbers. Rows that
/// are alike in all other settings are one line. Charts by the names of their settings; none without such settings.
std::vector<std::pair<std::string, Plot>> metric_against_settings(const PaperTable& table,
                                                                  const std::vector<Run>& runs);

/// Why the rows have no such chart, whatever their runs: the settings in which two of them differ, for example. Empty
/// where they have one.
std::string why_no_chart(const PaperTable& table);

/// A page with a table between the lines "<!-- table NAME -->" and "<!-- end of table NAME -->", or at its end if it
/// has neither. A missing page is empty. Throws InputError for a page that has only one of the
/// lines, one of them twice, or another table between them.
std::string page_with(const std::filesystem::path& page, const std::string& name, const std::string& table);
/// Writes that page.
void put_into_page(const std::filesystem::path& page, const std::string& name, const std::string& table);

}  // namespace lagtape::table
