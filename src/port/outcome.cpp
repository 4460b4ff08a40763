#include "port/outcome.h"
#include "base/text.h"

namespace opsight::port {

std::string parametersText(const std::map<std::string, std::string> &parameters) {
  std::vector<std::string> texts;
  for (const auto &[name, value] : parameters)
    texts.push_back(name + " " + value);
  return join(texts, ", ");
}

} // namespace opsight::port
