#pragma once

#include <string>

namespace lagtape {

/// Whether a column is called as parts of a date are, whose values repeat in runs as well.
bool is_called_date(const std::string& name);

}  // namespace lagtape
