#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/view/report/report_page.h"

namespace lagtape::report {

/// A setting's value for readers; "-" if there is none.
std::string value_text(const Json& value);

/// A JSON Pointer for readers: "optimizer/lr".
std::string setting_name(const std::string& pointer);

/// The mean, with the deviation if there are several numbers; "-" for null.
std::string number_with_deviation(const std::pair<double, double>* number, bool several);

/// The columns of a table in order, those in the most rows first. `counts` has the number of rows with each.
std::vector<std::size_t> shown_columns(const std::vector<std::size_t>& counts);
void say_what_is_left_out(ReportPage& page, std::size_t all, std::size_t shown, const char* what);

/// A folder in a page's commands: never an absolute path, because others may get the page.
std::string in_commands(const std::filesystem::path& folder);

/// The name of a folder, whatever the form of its path.
std::string name_of(const std::filesystem::path& folder);

}  // namespace lagtape::report
