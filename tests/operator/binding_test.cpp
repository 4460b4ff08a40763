// Parameters bind by what they are called; what could mean two things is asked for.
#include "operator/binding.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numbers>

namespace opsight::ops {
namespace {

using testing::HasSubstr;
using Arguments = std::map<std::string, std::string>;

const Operator &attention() { return **findOperator("scaled_dot_product_attention"); }

/// "const float* q, float* o, int n, float scale" as the compiler would see it.
std::vector<ParameterView> parameters(std::initializer_list<const char *> texts) {
  std::vector<ParameterView> views;
  for (std::string text : texts) {
    ParameterView view;
    size_t space = text.rfind(' ');
    view.type = text.substr(0, space);
    view.name = text.substr(space + 1);
    view.isPointer = view.type.ends_with("*");
    view.isConst = view.type.starts_with("const");
    auto has = [&](const char *word) { return view.type.find(word) != std::string::npos; };
    view.element = has("double")                 ? ElementType::Float64
                   : has("float")                ? ElementType::Float32
                   : has("half")                 ? ElementType::Float16
                   : has("bool") || has("char")  ? ElementType::UInt8
                   : has("long") || has("int64") ? ElementType::Int64
                                                 : ElementType::Int32;
    view.bytes = view.isPointer ? 8 : uint32_t(sizeOf(view.element));
    views.push_back(view);
  }
  return views;
}

std::string bound(std::initializer_list<const char *> texts, Arguments arguments = {}, Options options = {}) {
  auto bounds = ops::bind(attention(), parameters(texts), arguments, options);
  if (!bounds)
    return "error: " + describe(bounds.error());
  std::string text;
  for (const Bound &b : *bounds)
    text += (text.empty() ? "" : " ") + b.text;
  return text;
}

TEST(Binding, KnowsCommonSpellings) {
  EXPECT_EQ(bound({"const float* q", "const float* k", "const float* v", "float* o", "int B", "int H", "int L", "int S",
                   "int D", "float scale"}),
            "query key value output B H L S D scale");
  EXPECT_EQ(bound({"const float* Q", "const float* K", "const float* V", "float* out", "int batch_size", "int num_heads",
                   "int seqlen_q", "int seqlen_k", "int head_dim", "float softmax_scale", "bool is_causal"}),
            "query key value output B H L S D scale causal");
  EXPECT_EQ(bound({"float* d_Q", "float* d_K", "float* d_V", "float* d_O", "int64_t d"}), "query key value output D");
  EXPECT_EQ(bound({"const float* query_ptr", "const float* key_ptr", "const float* value_ptr", "float* output", "float* lse",
                   "int num_kv_heads", "int dv"}),
            "query key value output lse Hkv Dv");
}

TEST(Binding, TakesOneLengthForBothOnlyWhereTheyAreEqual) {
  auto bounds = ops::bind(attention(), parameters({"float* q", "float* k", "float* v", "float* o", "int n", "int d"}), {}, {});
  ASSERT_TRUE(bounds);
  ASSERT_TRUE((*bounds)[4].onlyWhere);
  EXPECT_FALSE(broken(*(*bounds)[4].onlyWhere, {{"L", 8}, {"S", 8}}));
  EXPECT_THAT(*broken(*(*bounds)[4].onlyWhere, {{"L", 8}, {"S", 9}}), HasSubstr("L = 8, S = 9"));
}

TEST(Binding, AsksWhenALengthCouldBeEither) {
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "float* o", "int n", "int seq_len"}),
              HasSubstr("could be the number of queries or of keys"));
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "float* o", "int n", "int S"}), HasSubstr("choices: L, S"));
}

TEST(Binding, AsksForNamesThatSayNothing) {
  EXPECT_THAT(bound({"float* a", "float* k", "float* v", "float* o"}), HasSubstr("'float* a' could be any"));
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "float* o", "int foo"}), HasSubstr("foo"));
}

TEST(Binding, FollowsArguments) {
  EXPECT_EQ(bound({"float* a", "float* b", "float* c", "float* x", "int foo", "float t"},
                  {{"a", "query"}, {"b", "key"}, {"c", "value"}, {"x", "output"}, {"foo", "ceil_div(S, 64) * H"}, {"t", "0.5"}}),
            "query key value output ceil_div(S, 64) * H 0.5");
  EXPECT_EQ(bound({"float* q", "float* k", "float* v", "float* o", "int n", "int m"}, {{"n", "L"}, {"m", "S"}}),
            "query key value output L S");
}

TEST(Binding, PassesTheScaleInBaseTwoUnderItsName) {
  auto bounds = ops::bind(attention(), parameters({"float* q", "float* k", "float* v", "float* o", "float softmax_scale_log2"}), {}, {});
  ASSERT_TRUE(bounds);
  EXPECT_EQ((*bounds)[4].kind, Bound::Kind::Scalar);
  EXPECT_EQ((*bounds)[4].text, "scale");
  EXPECT_DOUBLE_EQ((*bounds)[4].value, std::numbers::log2e);
}

TEST(Binding, RefusesSlipsOfThePen) {
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "float* o"}, {{"qq", "query"}}), HasSubstr("did you mean 'q'"));
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "float* o"}, {{"q", "querry"}}), HasSubstr("query"));
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "float* o", "int x"}, {{"x", "LL"}}), HasSubstr("unknown symbol 'LL'"));
}

TEST(Binding, RefusesTensorsMissingOrTaken) {
  EXPECT_THAT(bound({"float* q", "float* k", "float* o"}), HasSubstr("no parameter of the kernel receives value"));
  EXPECT_THAT(bound({"float* q", "float* Q", "float* k", "float* v", "float* o"}), HasSubstr("would both receive query"));
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "const float* o"}), HasSubstr("points to const"));
}

TEST(Binding, WantsAMaskExactlyWhereTheOptionHasOne) {
  Options with{{"mask", "bool"}}, without{{"mask", "none"}};
  EXPECT_EQ(bound({"float* q", "float* k", "float* v", "const bool* mask", "float* o"}, {}, with),
            "query key value mask output");
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "float* o"}, {}, with), HasSubstr("receives mask"));
  EXPECT_THAT(bound({"float* q", "float* k", "float* v", "const bool* mask", "float* o"}, {}, without),
              HasSubstr("option mask is \"none\""));
}

TEST(Binding, ChecksElementTypes) {
  auto kind = [](std::initializer_list<const char *> texts, Options options = {}) {
    auto bounds = ops::bind(attention(), parameters(texts), {}, options);
    return bounds ? std::optional<ErrorKind>() : bounds.error().kind;
  };
  EXPECT_EQ(kind({"const half* q", "float* k", "float* v", "float* o"}), ErrorKind::Unsupported);
  EXPECT_EQ(kind({"float* q", "float* k", "float* v", "float* o", "const float* mask"}, {{"mask", "bool"}}),
            ErrorKind::Unsupported);
  EXPECT_EQ(kind({"float* q", "float* k", "float* v", "float* o", "int scale"}), ErrorKind::User);
}

TEST(Binding, InfersWhatAKernelCannotVary) {
  auto bounds = ops::bind(attention(), parameters({"float* q", "float* k", "float* v", "float* o", "int L", "int D"}), {}, {});
  ASSERT_TRUE(bounds);
  std::vector<std::string> elsewhere{"H"};
  auto broke = [&](Symbols symbols) {
    std::string all;
    for (const Requirement &r : impliedRequirements(attention(), *bounds, elsewhere))
      if (auto why = broken(r, symbols))
        all += *why + ";";
    return all;
  };
  EXPECT_EQ(broke({{"L", 4}, {"S", 4}, {"H", 2}, {"Hkv", 2}, {"D", 8}, {"Dv", 8}}), "");
  EXPECT_THAT(broke({{"L", 4}, {"S", 5}, {"H", 2}, {"Hkv", 2}, {"D", 8}, {"Dv", 8}}), HasSubstr("never hears of S"));
  EXPECT_THAT(broke({{"L", 4}, {"S", 4}, {"H", 2}, {"Hkv", 1}, {"D", 8}, {"Dv", 8}}), HasSubstr("never hears of Hkv"));
  EXPECT_THAT(broke({{"L", 4}, {"S", 4}, {"H", 2}, {"Hkv", 2}, {"D", 8}, {"Dv", 9}}), HasSubstr("never hears of Dv"));
  elsewhere = {"H", "Hkv", "S", "Dv"};
  EXPECT_EQ(broke({{"L", 4}, {"S", 5}, {"H", 2}, {"Hkv", 1}, {"D", 8}, {"Dv", 9}}), "");
}

} // namespace
} // namespace opsight::ops
