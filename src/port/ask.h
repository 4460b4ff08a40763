// What an engineer asks for in plain Chinese or English. Every clause is either understood, and told back, or the whole
// request is refused with exactly the part that was not; a reason given beside a demand is recognised as a reason.
#pragma once
#include "port/request.h"

namespace opsight::port {

/// The demands of one or several sentences.
struct Asked {
  std::vector<Understood> parts;
  std::optional<double> maxError, minSpeed;
  std::optional<std::string> card; // a card named in the text
  std::vector<Hint> hints;
};

/// Understands one text; `asked` may hold what earlier texts said, so that contradictions and follow-ups are seen.
Status understand(const Placed &text, const std::vector<std::string> &cards, Asked &asked);

} // namespace opsight::port
