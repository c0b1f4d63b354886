#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// The file endings for charts.
inline const std::vector<std::string> kChartEndings = {".svg", ".png", ".pdf"};

/// Throws InputError for a file that cannot be drawn on this machine: .png and .pdf require rsvg-convert, a
/// librsvg program.
void require_chart_program(const std::string& option, const std::string& file);

/// Writes a chart in the format given by the file's ending. Throws InputError as require_chart_program and
/// write_file_atomically do.
void write_chart(const std::string& file, const Plot& plot);

}  // namespace lagtape
