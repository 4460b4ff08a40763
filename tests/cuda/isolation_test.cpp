// What goes wrong inside the compiler stays in its process.
#include "compiled.h"
#include "cuda/isolate.h"
#include <csignal>
#include <unistd.h>

namespace opsight::testing {
namespace {
using cuda::runIsolated;

TEST(Isolation, bytes_come_back_whole) {
  std::string large(10u << 20, 'x');
  auto bytes = runIsolated("a.cu", {}, [&] { return large; });
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(*bytes, large);
}

TEST(Isolation, a_crash_is_an_internal_error_that_names_the_file) {
  auto bytes = runIsolated("crash.cu", {}, []() -> std::string { ::raise(SIGSEGV); return "never"; });
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(int(bytes.error().kind), int(ErrorKind::Internal));
  EXPECT_NE(bytes.error().what.find("crash.cu"), std::string::npos);
}

TEST(Isolation, an_endless_compile_ends_at_its_time_limit) {
  auto begin = std::chrono::steady_clock::now();
  auto bytes = runIsolated("endless.cu", {.time = std::chrono::seconds(1), .memoryBytes = 1u << 30}, []() -> std::string {
    while (true)
      ::usleep(1000);
  });
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(int(bytes.error().kind), int(ErrorKind::User));
  EXPECT_NE(bytes.error().what.find("endless.cu"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST(Isolation, a_child_that_leaves_early_is_no_answer) {
  auto bytes = runIsolated("early.cu", {}, []() -> std::string { ::_exit(5); });
  ASSERT_FALSE(bytes.has_value());
  EXPECT_NE(bytes.error().what.find("status 5"), std::string::npos);
}

#ifndef OPSIGHT_SANITIZE
TEST(Isolation, memory_without_end_is_a_user_error) {
  auto bytes = runIsolated("greedy.cu", {.time = std::chrono::seconds(60), .memoryBytes = 1u << 30}, []() -> std::string {
    for (std::string all;;)
      all.resize(all.size() + (64u << 20), 'x');
  });
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(int(bytes.error().kind), int(ErrorKind::User));
}
#endif

TEST(Isolation, templates_without_end_are_told_and_the_next_compile_works) {
  expectError(compiled("template <int N> struct r { static constexpr int v = r<N + 1>::v; };\n"
                       "__global__ void k(int *p) { p[0] = r<0>::v; }"),
              ErrorKind::User, "recursive template instantiation");
  expectError(compiled("constexpr int loop(int n) { while (true) ++n; return n; }\n"
                       "__global__ void k(int *p) { constexpr int v = loop(3); p[0] = v; }"),
              ErrorKind::User, "error: ");
  EXPECT_EQ(storedConstants(compiledOk("__global__ void k(int *p) { p[0] = 1; }")).at(0), 1u);
}
} // namespace
} // namespace opsight::testing
