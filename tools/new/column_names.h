#pragma once

#include <string>

namespace lagtape {

/// Whether a column's name means part of a date, whose values also repeat in runs.
bool is_called_date(const std::string& name);

}  // namespace lagtape
