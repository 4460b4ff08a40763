// The one list of targets' pass tables.
#include "lower/registry.h"
#include "lower/native/passes.h"
#include "lower/spirv/passes.h"
#include "lower/warp/passes.h"
#include <algorithm>

namespace opsight::lower {

std::vector<const Pass *> allPasses() {
  std::vector<const Pass *> all;
  for (const Pass *pass : spirv::passes())
    all.push_back(pass);
  for (auto passes : {native::ownPasses(), warp::ownPasses()})
    for (const Pass *pass : passes)
      if (std::ranges::find(all, pass) == all.end()) // what several use is listed once
        all.push_back(pass);
  return all;
}

const Pass *findPass(std::string_view name) {
  for (const Pass *pass : allPasses())
    if (pass->name == name)
      return pass;
  return nullptr;
}

} // namespace opsight::lower
