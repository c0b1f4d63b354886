#include "lagtape/cells/initial_values.h"

#include <algorithm>

namespace lagtape {
namespace {

/// A parameter by the name that its user knows it by.
struct Named {
  std::string name;        ///< in a nested group "0.V"
  std::string short_name;  ///< "V"
  ParameterDefinition* parameter;
};

std::vector<Named> parameters_of(LayerGroup& group) {
  std::vector<Named> all;
  for (std::size_t l = 0; l < group.layers.size(); ++l)
    for (ParameterDefinition& p : group.layers[l].parameters)
      all.push_back({group.nested ? text_of(l, ".", p.name) : p.name, p.name, &p});
  return all;
}

void set(ParameterDefinition& parameter, const InitialValues::Entry& entry) {
  if (const std::string obstacle = entry.initializer.obstacle(parameter.shape); !obstacle.empty())
    throw OptionError(entry.pointer, text_of("this initializer ", obstacle, "; '", parameter.name, "' is ",
                                             to_string(parameter.shape), "."));
  parameter.initializer = entry.initializer;
  parameter.draws_of.clear();
}

/// Whether any parameter has that name.
bool set_all(const std::vector<Named>& parameters, const InitialValues::Entry& entry,
             std::string Named::*name) {
  bool found = false;
  for (const Named& named : parameters) {
    if (named.*name != entry.name) continue;
    set(*named.parameter, entry);
    found = true;
  }
  return found;
}

}  // namespace

void InitialValues::read(JsonReader& reader) {
  const Json& given = reader.raw(
      "init", "first values of parameters by name, as `list initializers` has them", "object", "{}");
  reader.fill("init", given.is_null() ? Json::object() : read_object(given, reader));
}

Json InitialValues::read_object(const Json& value, JsonReader& reader) {
  const JsonReader object(value, reader.pointer_to("init"), reader.errors());
  if (!object.is_object()) return value;
  Json filled = Json::object();
  for (const auto& [name, initializer] : value.items()) {
    const std::string pointer = object.pointer_to(name);
    entries.push_back(
        {name, read_initializer(initializer, pointer, reader.errors(), &filled[name]), pointer});
  }
  return filled;
}

void InitialValues::apply(LayerGroup& group) const {
  const std::vector<Named> parameters = parameters_of(group);
  std::vector<const Entry*> exact;
  for (const Entry& entry : entries) {
    if (std::ranges::find(parameters, entry.name, &Named::name) != parameters.end()) {
      exact.push_back(&entry);
    } else if (!set_all(parameters, entry, &Named::short_name)) {
      std::vector<std::string> known;
      for (const Named& named : parameters) known.push_back(named.name);
      throw OptionError(entry.pointer, unknown_name("parameter", entry.name, known) + ".");
    }
  }
  for (const Entry* entry : exact) set_all(parameters, *entry, &Named::name);
}

}  // namespace lagtape
