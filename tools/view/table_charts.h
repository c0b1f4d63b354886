#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/sweep/table/paper_table.h"

namespace lagtape::table {

/// The table's metric during training, with a line for each row: the mean over the finished runs, or over the
/// unfinished ones if none has finished, with a band of one standard deviation if there are several. On the
/// test set if runs have measured it (TrainOptions::evaluate_test), else on the validation set.
Plot learning_curves(const PaperTable& table, const std::vector<Trial>& trials);

/// The table's metric against each numeric setting of its rows (Row::at) with at least two values: the mean
/// over the finished runs, with a band of one standard deviation if there are several, and the published
/// numbers. Rows that agree in all other settings form one line. Charts are identified by the names of their
/// settings; none without such settings.
std::vector<std::pair<std::string, Plot>> metric_against_settings(const PaperTable& table,
                                                                  const std::vector<Trial>& trials);

/// Why the rows have no such chart, whatever their runs: for example, the settings in which two of them differ.
/// Empty if they have one.
std::string why_no_chart(const PaperTable& table);

/// Whether a band is visible: somewhere its upper edge is above the lower one.
bool has_width(const PlotBand& band);

/// Explains in the legend what the bands around the means are. Without bands nothing changes.
void explain_bands(Plot& plot);

}  // namespace lagtape::table
