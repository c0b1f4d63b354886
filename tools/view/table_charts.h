#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/sweep/table/paper_table.h"

namespace lagtape::table {

/// The table's metric during training, a line for each row: the mean over the runs that are done, or over the unfinished
/// ones if none is, with a band of one standard deviation where there are several. On the test set where runs have
/// measured it (TrainOptions::evaluate_test), else on the validation set.
Plot learning_curves(const PaperTable& table, const std::vector<Trial>& trials);

/// The table's metric against each numeric setting of its rows (Row::at) of which there are two values: the mean over the
/// runs that are done, with a band of one standard deviation where there are several, and the printed numbers. Rows that
/// are alike in all other settings are one line. Charts by the names of their settings; none without such settings.
std::vector<std::pair<std::string, Plot>> metric_against_settings(const PaperTable& table,
                                                                  const std::vector<Trial>& trials);

/// Why the rows have no such chart, whatever their runs: the settings in which two of them differ, for example. Empty
/// where they have one.
std::string why_no_chart(const PaperTable& table);

/// Whether there is anything to see of a band: somewhere its upper edge is above the lower one.
bool has_width(const PlotBand& band);

/// Says in the legend what the bands around the means are. Without bands nothing changes.
void explain_bands(Plot& plot);

}  // namespace lagtape::table
