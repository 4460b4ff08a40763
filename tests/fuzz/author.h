// Writes one random kernel. Whatever it writes has one meaning: no race, no undefined operand, the same bits on every
// processor. Where a statement may stand goes by how far threads can have parted there.
#pragma once
#include "fuzz/kernel.h"
#include <initializer_list>
#include <random>

namespace opsight::fuzz {

/// Who reaches a place together: threads one by one, whole warps, all threads of the block that are left.
enum class Together { Thread, Warp, Block };

class Author {
public:
  explicit Author(uint64_t seed);
  Kernel write();

private:
  // author.cpp: what may be computed
  unsigned pick(unsigned n) { return unsigned(random_() % n); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  std::string one(std::initializer_list<const char *> texts) { return *(texts.begin() + pick(unsigned(texts.size()))); }
  std::string place();
  std::string ownPlace();
  Node leaf(Node::Kind kind);
  Node expression(Node::Kind kind, unsigned depth = 2);
  Node integer(unsigned depth);
  Node longInteger(unsigned depth);
  Node real(unsigned depth);
  Node doubleReal(unsigned depth);
  Node truth(unsigned depth);
  Node common(unsigned depth);

  // author_wide.cpp: half precision, vectors in memory, words of 64 bits that threads share
  Node halfLeaf();
  Node half(unsigned depth);
  Node halfStatement();
  Node halfExchange();
  std::string vectorPlace();
  std::string vectorElement(const char *vectors);
  Node vectorLoad();
  Node vectorStore();
  Node longAtomic();

  // author_statements.cpp
  Node statements(unsigned count);
  Node statement();
  Node simple();
  Node store();
  Node atomic();
  Node branch();
  Node choice();
  Node loop();
  Node commonLoop();
  Node leave();
  Node sharedPhase();
  Node warpOperation();
  Node inside(Together together);
  std::string sharedPlace();
  std::string declarations();

  struct Loop {
    Together together;
  };
  std::mt19937_64 random_;
  Kernel kernel_;
  Together together_ = Together::Block;
  std::vector<Loop> loops_{};
  std::vector<std::string> counters_{}, commonCounters_{}, stored_{};
  unsigned depth_ = 0, budget_ = 0, names_ = 0, storesLeft_ = mostStores;
  bool mayReturn_ = false, warps_ = false, shared_ = false;
};

} // namespace opsight::fuzz
