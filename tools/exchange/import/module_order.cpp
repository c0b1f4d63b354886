#include "lagtape/tools/exchange/import/module_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::foreign {
namespace {

using Order = std::vector<std::size_t>;

constexpr std::size_t kMostTried = 8;

/// Every order in which each module takes the width that the one before gives.
void find_orders(const std::vector<Module>& modules, Order& begun, std::vector<Order>& found) {
  if (begun.size() == modules.size()) return found.push_back(begun);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (std::ranges::find(begun, i) != begun.end()) continue;
    if (!begun.empty() && modules[begun.back()].output != modules[i].input) continue;
    begun.push_back(i);
    find_orders(modules, begun, found);
    begun.pop_back();
  }
}

bool maps_come_last(const std::vector<Module>& modules, const Order& order) {
  return std::ranges::is_partitioned(order, [&](std::size_t i) { return modules[i].is_recurrent; });
}

std::string list_of(const std::vector<Module>& modules) {
  constexpr std::size_t kMostNamed = 60;
  std::string list;
  for (const Module& module : std::span(modules).first(std::min(modules.size(), kMostNamed)))
    list += text_of(list.empty() ? "" : ", ", shortened(module.name), " (", module.input, " to ",
                    module.output, ")");
  if (modules.size() > kMostNamed) list += text_of(" and ", modules.size() - kMostNamed, " more");
  return list;
}

/// The only order that the widths allow in which maps come last. Throws InputError when there is none, or several.
Order order_by_widths(const std::vector<Module>& modules, const std::string& where) {
  std::vector<Order> orders;
  Order begun;
  if (modules.size() <= kMostTried) find_orders(modules, begun, orders);
  const bool none = orders.empty() && modules.size() <= kMostTried;
  std::erase_if(orders, [&](const Order& order) { return !maps_come_last(modules, order); });
  if (none)
    throw InputError({where}, Rule::shape,
                     text_of("in no order does each module take the width that the one before gives: ",
                             list_of(modules), "."));
  if (orders.size() != 1)
    throw InputError({where}, Rule::missing,
                     text_of("the file does not tell the order of its modules: ", list_of(modules)), {},
                     "Give --order with their names from the input up, separated by commas.");
  return orders.front();
}

Order order_by_names(const std::vector<Module>& modules, const std::vector<std::string>& names,
                     const std::string& where) {
  std::vector<std::string> known;
  for (const Module& module : modules) known.push_back(module.name);
  Order order;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw InputError(unknown_name("module", name, known).within({.file = where, .item = "--order"}));
    order.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  Order sorted = order;
  std::ranges::sort(sorted);
  if (sorted.size() != modules.size() || std::ranges::adjacent_find(sorted) != sorted.end())
    throw InputError({where}, Rule::conflict,
                     text_of("--order names each module once. The file has ", list_of(modules), "."));
  return order;
}

/// Whether all names are numbers, as in nn.Sequential.
bool are_numbers(const std::vector<Module>& modules) {
  return std::ranges::all_of(modules, [](const Module& module) {
    return !module.name.empty() && module.name.size() < 9 &&
           std::ranges::all_of(module.name, [](char c) { return c >= '0' && c <= '9'; });
  });
}

Order order_of(const std::vector<Module>& modules, bool is_given, const std::vector<std::string>& names,
               const std::string& where) {
  if (!names.empty()) return order_by_names(modules, names, where);
  Order order(modules.size());
  std::iota(order.begin(), order.end(), 0);
  if (is_given || modules.size() < 2) return order;
  if (!are_numbers(modules)) return order_by_widths(modules, where);
  std::ranges::sort(order, {},
                    [&](std::size_t i) { return std::pair(modules[i].name.size(), modules[i].name); });
  return order;
}

}  // namespace

std::vector<Module> in_order(std::vector<Module> modules, bool is_given,
                             const std::vector<std::string>& names, const std::string& where) {
  std::vector<Module> ordered;
  for (const std::size_t i : order_of(modules, is_given, names, where))
    ordered.push_back(std::move(modules[i]));
  return ordered;
}

}  // namespace lagtape::foreign
