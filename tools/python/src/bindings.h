#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace lagtape {
enum class ReadAt : std::uint8_t;
}

namespace lagtape::python {

// Each adds the functions and classes of its topic to the extension module.
void add_models(nanobind::module_& module);
void add_built_models(nanobind::module_& module);
void add_streams(nanobind::module_& module);
void add_learners(nanobind::module_& module);
void add_given_data(nanobind::module_& module);
void add_experiments(nanobind::module_& module);
void add_evaluation(nanobind::module_& module);
void add_forecasts(nanobind::module_& module);
void add_cells(nanobind::module_& module);
void add_charts(nanobind::module_& module);
void add_training(nanobind::module_& module);
void add_recurrences(nanobind::module_& module);

/// The place where outputs are read, given its name. Throws InputError with the nearest.
ReadAt read_at_named(const std::string& name);

}  // namespace lagtape::python
