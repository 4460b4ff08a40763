#include "cuda/statements.h"
#include "cuda/diagnostics.h"
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <optional>
#include <set>

namespace opsight::cuda {
namespace {

struct NamedOperation {
  std::string_view start; // beginning of the function's name
  Fact::Kind kind;
};
// The first that fits decides, so "__syncthreads" comes with all its variants.
constexpr NamedOperation operations[] = {
    {"__syncthreads", Fact::Kind::Barrier},     {"__barrier_sync", Fact::Kind::Barrier},
    {"__syncwarp", Fact::Kind::WarpOperation},  {"__shfl", Fact::Kind::WarpOperation},
    {"__ballot", Fact::Kind::WarpOperation},    {"__any_sync", Fact::Kind::WarpOperation},
    {"__all_sync", Fact::Kind::WarpOperation},  {"__uni_sync", Fact::Kind::WarpOperation},
    {"__activemask", Fact::Kind::WarpOperation}, {"__match_", Fact::Kind::WarpOperation},
    {"__reduce_", Fact::Kind::WarpOperation},   {"atomic", Fact::Kind::Atomic},
    {"printf", Fact::Kind::Printf},             {"__assert_fail", Fact::Kind::Assert},
};
// Members and functions of cooperative_groups.
constexpr NamedOperation groupOperations[] = {
    {"shfl", Fact::Kind::WarpOperation},   {"ballot", Fact::Kind::WarpOperation}, {"any", Fact::Kind::WarpOperation},
    {"all", Fact::Kind::WarpOperation},    {"match_", Fact::Kind::WarpOperation}, {"reduce", Fact::Kind::WarpOperation},
};

/// Trip count of `for (int i = A; i < B; i += C)` with constant A, B and C; -1 for any other loop.
class TripCount {
public:
  TripCount(const clang::ForStmt &loop, const clang::ASTContext &context) : loop(loop), context(context) {}

  int64_t value() const {
    const clang::VarDecl *counter = nullptr;
    std::optional<int64_t> first = start(counter), step = counter ? stride(*counter) : std::nullopt;
    const auto *condition = llvm::dyn_cast_or_null<clang::BinaryOperator>(loop.getCond());
    if (!first || !step || *step == 0 || !condition || !refersTo(condition->getLHS(), *counter))
      return -1;
    std::optional<int64_t> bound = constant(condition->getRHS());
    return bound ? count(*first, *bound, *step, condition->getOpcode()) : -1;
  }

private:
  static int64_t count(int64_t first, int64_t bound, int64_t step, clang::BinaryOperatorKind comparison) {
    if (comparison == clang::BO_LE || comparison == clang::BO_GE)
      bound += comparison == clang::BO_LE ? 1 : -1;
    else if (comparison != clang::BO_LT && comparison != clang::BO_GT && comparison != clang::BO_NE)
      return -1;
    bool upward = comparison == clang::BO_NE ? step > 0 : comparison == clang::BO_LT || comparison == clang::BO_LE;
    if (upward != (step > 0))
      return -1;
    int64_t distance = upward ? bound - first : first - bound, width = upward ? step : -step;
    return distance <= 0 ? 0 : (distance + width - 1) / width;
  }

  std::optional<int64_t> constant(const clang::Expr *expression) const {
    clang::Expr::EvalResult result;
    if (!expression || expression->isValueDependent() || !expression->EvaluateAsInt(result, context))
      return std::nullopt;
    return result.Val.getInt().getExtValue();
  }
  bool refersTo(const clang::Expr *expression, const clang::VarDecl &variable) const {
    const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression->IgnoreParenImpCasts());
    return reference && reference->getDecl() == &variable;
  }
  std::optional<int64_t> start(const clang::VarDecl *&counter) const {
    const auto *declaration = llvm::dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
    if (!declaration || !declaration->isSingleDecl())
      return std::nullopt;
    counter = llvm::dyn_cast<clang::VarDecl>(declaration->getSingleDecl());
    return counter ? constant(counter->getInit()) : std::nullopt;
  }
  std::optional<int64_t> stride(const clang::VarDecl &counter) const {
    if (const auto *unary = llvm::dyn_cast_or_null<clang::UnaryOperator>(loop.getInc());
        unary && unary->isIncrementDecrementOp() && refersTo(unary->getSubExpr(), counter))
      return unary->isIncrementOp() ? 1 : -1;
    const auto *binary = llvm::dyn_cast_or_null<clang::CompoundAssignOperator>(loop.getInc());
    if (!binary || !refersTo(binary->getLHS(), counter))
      return std::nullopt;
    std::optional<int64_t> width = constant(binary->getRHS());
    if (width && binary->getOpcode() == clang::BO_SubAssign)
      return -*width;
    return binary->getOpcode() == clang::BO_AddAssign ? width : std::nullopt;
  }

  const clang::ForStmt &loop;
  const clang::ASTContext &context;
};

bool asksToUnroll(const clang::AttributedStmt &statement, const clang::ASTContext &context) {
  for (const clang::Attr *attribute : statement.getAttrs()) {
    const auto *hint = llvm::dyn_cast<clang::LoopHintAttr>(attribute);
    if (!hint || !llvm::is_contained({clang::LoopHintAttr::Unroll, clang::LoopHintAttr::UnrollCount}, hint->getOption()))
      continue;
    if (hint->getState() == clang::LoopHintAttr::Disable)
      return false;
    clang::Expr::EvalResult count;
    const clang::Expr *value = hint->getValue();
    bool isOne = value && !value->isValueDependent() &&
                 value->EvaluateAsInt(count, context) && count.Val.getInt() == 1;
    return !isOne; // "#pragma unroll 1" forbids it
  }
  return false;
}

class Visitor : public clang::RecursiveASTVisitor<Visitor> {
public:
  explicit Visitor(clang::ASTContext &context) : context(context), policy(context.getLangOpts()) {
    policy.SuppressTagKeyword = true;
  }

  std::vector<Fact> facts;

  void follow(const clang::FunctionDecl *function) {
    const clang::FunctionDecl *definition = function ? function->getDefinition() : nullptr;
    if (!definition || context.getSourceManager().isInSystemHeader(definition->getLocation()))
      return;
    if (visited.insert(definition).second)
      TraverseStmt(definition->getBody());
  }

  bool VisitCallExpr(clang::CallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (callee && !classify(*call, *callee))
      follow(callee);
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *construct) {
    follow(construct->getConstructor());
    return true;
  }
  bool VisitVarDecl(clang::VarDecl *variable) {
    if (!variable->hasAttr<clang::CUDASharedAttr>() || variable->hasExternalStorage())
      return true;
    std::string what;
    llvm::raw_string_ostream out(what);
    variable->getType().print(out, policy, variable->getName());
    Fact fact = make(Fact::Kind::SharedArray, variable->getLocation(), what);
    fact.space = "shared";
    fact.bytes = context.getTypeSizeInChars(variable->getType()).getQuantity();
    facts.push_back(fact);
    return true;
  }
  bool TraverseAttributedStmt(clang::AttributedStmt *statement) {
    unrollNext = asksToUnroll(*statement, context);
    return RecursiveASTVisitor::TraverseAttributedStmt(statement);
  }
  bool VisitForStmt(clang::ForStmt *loop) { return addLoop(*loop, "for", TripCount(*loop, context).value()); }
  bool VisitWhileStmt(clang::WhileStmt *loop) { return addLoop(*loop, "while", -1); }
  bool VisitDoStmt(clang::DoStmt *loop) { return addLoop(*loop, "do", -1); }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt *loop) { return addLoop(*loop, "for", -1); }

private:
  Fact make(Fact::Kind kind, clang::SourceLocation location, std::string what) const {
    Fact fact;
    fact.kind = kind;
    fact.where = placeOf(location, context.getSourceManager());
    fact.what = std::move(what);
    return fact;
  }

  bool addLoop(const clang::Stmt &loop, const char *what, int64_t trips) {
    Fact fact = make(Fact::Kind::Loop, loop.getBeginLoc(), what);
    fact.trips = trips;
    fact.unrolled = std::exchange(unrollNext, false);
    facts.push_back(fact);
    return true;
  }

  static bool isOfGroups(const clang::FunctionDecl &callee) {
    return llvm::StringRef(callee.getQualifiedNameAsString()).starts_with("cooperative_groups::");
  }

  std::optional<Fact::Kind> kindOf(const clang::FunctionDecl &callee) const {
    std::string name = callee.getNameAsString();
    if (isOfGroups(callee)) {
      if (name == "sync") {
        const auto *member = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
        bool ofBlock = member ? member->getParent()->getName() == "thread_block"
                              : callee.getNumParams() == 1 && callee.getParamDecl(0)
                                                                  ->getType()
                                                                  .getNonReferenceType()
                                                                  .getUnqualifiedType()
                                                                  .getAsString()
                                                                  .ends_with("thread_block");
        return ofBlock ? Fact::Kind::Barrier : Fact::Kind::WarpOperation;
      }
      for (const NamedOperation &operation : groupOperations)
        if (name.starts_with(operation.start))
          return operation.kind;
      return std::nullopt;
    }
    // A user's own function may be called "atomic…"; CUDA's are ours, in system headers, or Clang's builtins.
    if (!context.getSourceManager().isInSystemHeader(callee.getLocation()) && callee.getBuiltinID() == 0)
      return std::nullopt;
    for (const NamedOperation &operation : operations)
      if (name.starts_with(operation.start))
        return operation.kind;
    return std::nullopt;
  }

  bool classify(const clang::CallExpr &call, const clang::FunctionDecl &callee) {
    std::optional<Fact::Kind> kind = kindOf(callee);
    if (!kind)
      return false;
    std::string what = isOfGroups(callee) ? "cooperative_groups " + callee.getNameAsString() : callee.getNameAsString();
    Fact fact = make(*kind, call.getBeginLoc(), what);
    if (*kind == Fact::Kind::Assert)
      fact.what = "assert";
    if (*kind == Fact::Kind::Atomic && call.getNumArgs() > 0)
      fact.what += " " + call.getArg(0)->getType()->getPointeeType().getUnqualifiedType().getAsString(policy);
    facts.push_back(fact);
    return true;
  }

  clang::ASTContext &context;
  clang::PrintingPolicy policy;
  std::set<const clang::FunctionDecl *> visited;
  bool unrollNext = false;
};
} // namespace

std::vector<Fact> statementFacts(const clang::FunctionDecl &kernel, clang::ASTContext &context) {
  Visitor visitor(context);
  visitor.follow(&kernel);
  return std::move(visitor.facts);
}

} // namespace opsight::cuda
