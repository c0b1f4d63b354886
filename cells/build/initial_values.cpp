#include "lagtape/cells/build/initial_values.h"

#include <algorithm>

#include "lagtape/cells/build/read_initializer.h"

namespace lagtape {
namespace {

/// A parameter with the names that "init" may use for it.
struct NamedParameter {
  std::string name;        ///< "0.V" in a nested group
  std::string short_name;  ///< "V"
  ParameterDefinition* parameter;
};

std::vector<NamedParameter> parameters_of(LayerGroup& group) {
  std::vector<NamedParameter> all;
  for (std::size_t l = 0; l < group.layers.size(); ++l)
    for (ParameterDefinition& p : group.layers[l].parameters)
      all.push_back({group.nested ? text_of(l, ".", p.name) : p.name, p.name, &p});
  return all;
}

void set(ParameterDefinition& parameter, const InitialValues::Entry& entry) {
  if (const std::string obstacle = entry.initializer.obstacle(parameter.shape); !obstacle.empty())
    throw InputError({.pointer = entry.pointer}, Rule::shape,
                     text_of("this initializer ", obstacle, "; '", parameter.name, "' is ",
                             to_string(parameter.shape), "."));
  parameter.initializer = entry.initializer;
  parameter.draws_of.clear();
}

/// Sets every parameter with that name. False if there is none.
bool set_all(const std::vector<NamedParameter>& parameters, const InitialValues::Entry& entry,
             std::string NamedParameter::*name) {
  bool found = false;
  for (const NamedParameter& named : parameters) {
    if (named.*name != entry.name) continue;
    set(*named.parameter, entry);
    found = true;
  }
  return found;
}

}  // namespace

void InitialValues::apply(LayerGroup& group) const {
  const std::vector<NamedParameter> parameters = parameters_of(group);
  std::vector<const Entry*> exact;
  for (const Entry& entry : entries) {
    if (std::ranges::find(parameters, entry.name, &NamedParameter::name) != parameters.end()) {
      exact.push_back(&entry);
    } else if (!set_all(parameters, entry, &NamedParameter::short_name)) {
      std::vector<std::string> known;
      for (const NamedParameter& named : parameters) known.push_back(named.name);
      throw InputError(unknown_name("parameter", entry.name, known).within({.pointer = entry.pointer}));
    }
  }
  for (const Entry* entry : exact) set_all(parameters, *entry, &NamedParameter::name);
}

}  // namespace lagtape
