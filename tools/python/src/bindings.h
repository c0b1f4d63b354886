#pragma once

#include <nanobind/nanobind.h>

namespace lagtape::python {

// Each adds the functions and classes of its subject to the extension module.
void add_models(nanobind::module_& module);
void add_streams(nanobind::module_& module);
void add_given_data(nanobind::module_& module);
void add_experiments(nanobind::module_& module);
void add_evaluation(nanobind::module_& module);
void add_forecasts(nanobind::module_& module);
void add_cells(nanobind::module_& module);
void add_charts(nanobind::module_& module);
void add_training(nanobind::module_& module);
void add_recurrences(nanobind::module_& module);

}  // namespace lagtape::python
