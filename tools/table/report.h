#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/analysis/plot.h"
#include "lagtape/tools/table/run.h"

namespace lagtape::table {

/// What the runs of one row come to. Those that diverged or are not done have no part in the numbers.
struct Outcome {
  std::vector<const Run*> runs;              ///< of the row, by seed
  std::vector<double> values;                ///< of those that are done
  double mean = 0, deviation = 0, best = 0;  ///< NaN without values; deviation of a sample, NaN for one
  double seconds = 0;                        ///< a run
  std::int64_t params = 0;                   ///< of the model; 0 where they are not known
  int count(RunState state) const;
};

Outcome outcome_of(const PaperTable& table, std::size_t row, const std::vector<Run>& runs);

/// Says by how much the parameters of a row's model differ from the printed ones. Empty up to 5 %, and where either
/// number is not known.
std::string parameter_difference(const Row& row, const Outcome& outcome);

/// The table as Markdown, with what a reader must know of its rows below it. `command` is what repeats it.
std::string markdown(const PaperTable& table, const std::vector<Run>& runs, const std::string& command);

/// The table as one JSON object.
std::string json(const PaperTable& table, const std::vector<Run>& runs);

/// How the table's metric of the validation set went, a line a row: the mean of its runs that
/// are done, or of the unfinished ones where none is.
Plot learning_curves(const PaperTable& table, const std::vector<Run>& runs);

/// Puts a table between the lines "<!-- table NAME -->" and "<!-- end of table NAME -->" of a page, behind
/// the page's text when they are not there. A page that has one of them alone or twice, or another
/// table between them, is an InputError; one that is missing is made.
void put_into_page(const std::filesystem::path& page, const std::string& name, const std::string& table);

}  // namespace lagtape::table
