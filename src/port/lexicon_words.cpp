#include "port/lexicon_words.h"

namespace opsight::port {

using enum Concept;

static const Words actions[] = {
    {Translate, {"翻译", "移植", "转换", "改写", "迁移", "翻成", "转成", "port", "translate", "convert", "rewrite",
                 "translated", "ported", "translating", "porting", "translation", "bring"}},
    {Kernel, {"cuda算子", "cuda 算子", "cuda核函数", "cuda kernel", "cuda operator", "cuda代码", "cuda 代码", "cuda程序",
              "cuda code", "cuda source", "cuda", "算子", "核函数", "内核", "代码", "kernel", "operator", "code",
              "cuda attention kernel", "attention kernel", "attention算子", "flash attention kernel"}},
    {Target, {"国产卡", "国产加速卡", "国产芯片", "国产显卡", "国产gpu", "国产ai卡", "国产硬件", "国产平台", "目标卡",
              "domestic card", "domestic accelerator", "domestic chip", "domestic gpu", "home grown card",
              "chinese card", "chinese accelerator", "chinese gpu", "chinese chip", "target card", "new card",
              "our card", "the card", "this card", "accelerator", "domestically made card", "card"}},
    {Ir, {"ir", "中间表示", "ir层", "intermediate representation"}},
    {Implementation, {"实现", "版本", "implementation", "version", "实现版本", "function"}},
    {Reference, {"n卡实现", "n 卡实现", "n卡版本", "n卡", "n 卡", "n卡上", "英伟达实现", "英伟达卡", "英伟达", "nvidia实现",
                 "nvidia卡", "nvidia 卡", "nvidia", "nvidia card", "nvidia gpu", "nvidia implementation", "cuda实现",
                 "cuda 实现", "cuda版本", "cuda版", "cuda implementation", "cuda version", "原实现", "原版", "原始实现",
                 "原来", "参考实现", "基准", "reference", "reference implementation", "original", "original version",
                 "baseline", "vendor", "vendor library", "vendor function", "厂商库", "n card", "n card implementation"}},
    {Guarantee, {"保证", "确保", "ensure", "guarantee", "make sure", "secure", "get"}},
    {Optimise, {"优化", "调优", "optimise", "optimize", "optimisation", "optimization", "tune", "tuning", "optimizing",
                "optimising", "提升", "improve", "work on"}},
    {Update, {"更新", "update", "updated", "updating", "updates"}},
    {Rescale, {"rescale", "rescaling", "重缩放", "缩放"}},
    {Accumulate, {"accumulate", "accumulation", "累加", "accumulating"}},
    {Unroll, {"展开", "循环展开", "unroll", "unrolled", "unrolling"}},
    {Cache, {"缓存", "存放", "存储", "存", "放", "放到", "放入", "保存", "cache", "cached", "caching", "stored", "store",
             "kept", "keep", "held", "hold", "staged", "stage", "place", "placed"}},
};

static const Words measures[] = {
    {Error, {"精度误差", "误差", "最大误差", "数值误差", "计算误差", "error", "max error", "maximum error",
             "accuracy error", "precision error", "numerical error", "numeric error", "errors"}},
    {Accuracy, {"精度", "准确性", "准确度", "正确性", "正确", "结果正确", "数值精度", "accuracy", "correctness", "precision",
                "numerical accuracy"}},
    {Speed, {"性能", "速度", "吞吐", "吞吐量", "performance", "speed", "throughput", "as fast as", "perf",
             "the speed of", "performs"}},
    {Less, {"小于", "低于", "不超过", "不大于", "不高于", "小于等于", "小于或等于", "少于", "以内", "之内", "以下", "控制在",
            "<", "<=", "less than", "lower than", "smaller than", "below", "under", "at most", "no more than",
            "not more than", "not exceed", "not exceeding", "within", "no greater than", "not above", "no larger than",
            "less than or equal to", "up to", "不能超过", "不得超过", "不可超过", "不要超过", "不能大于",
            "不得大于", "must not exceed", "should not exceed", "may not exceed", "cannot exceed", "must stay below"}},
    {AtLeast, {"不低于", "不小于", "不少于", "至少", "大于", "大于等于", "大于或等于", "超过", "高于", "以上", "不差于",
               "不慢于", ">", ">=", "at least", "no less than", "not less than", "not lower than", "no lower than",
               "not below", "no worse than", "not slower than", "above", "over", "more than", "no slower than",
               "greater than", "not under", "never below", "or more", "or better", "or higher", "not fall below",
               "greater than or equal to", "minimum of", "min", "minimum", "不能低于", "不得低于", "不能小于", "must not fall below"}},
    {Reach, {"达到", "做到", "reach", "reaches", "reaching", "achieve", "achieves", "hit"}},
};

static const Words structure[] = {
    {Softmax, {"softmax", "soft max"}},
    {Online, {"online", "在线", "flash"}},
    {ThreePhase, {"三阶段", "三个阶段", "3阶段", "3个阶段", "三段式", "三步", "三步法", "three phase", "three phases",
                  "3 phase", "3 phases", "three stage", "three stages", "3 stage", "3 stages", "three step",
                  "three pass phases"}},
    {Naive, {"naive", "朴素", "普通", "原始的", "naïve", "textbook", "plain"}},
    {Algorithm, {"algorithm", "算法", "演算法", "方法", "方式", "写法", "method", "way", "formulation"}},
    {Not, {"不要使用", "不要用", "不要", "不能使用", "不能用", "不能", "不得使用", "不得", "禁止使用", "禁止", "不使用", "不用",
           "不可", "别用", "勿用", "而不是", "而非", "不是", "not", "do not use", "do not", "don t use", "don t", "never",
           "never use", "no", "must not", "without", "instead of", "rather than", "cannot", "not use", "not to use"}},
    {Maximum, {"局部最大值", "最大值", "局部最大", "行最大值", "max", "maximum", "local maximum", "local max",
               "running maximum", "running max", "row maximum", "row max", "local maxima", "maxima"}},
    {Sum, {"指数和", "指数之和", "指数求和", "局部指数和", "exponential sum", "sum of exponentials", "exponential sums",
           "sum", "sums of exponentials", "sum of exponents", "exp sum", "running sum", "sum of exps", "sums"}},
    {Order, {"顺序", "次序", "更新次序", "order", "ordering", "sequence"}},
    {Same, {"一致", "保持一致", "相同", "统一", "same", "consistent", "identical", "consistently", "一样"}},
    {SecondPhase, {"第二阶段", "第2阶段", "阶段二", "second phase", "second stage", "phase 2", "phase two", "stage 2",
                   "stage two", "2nd phase", "2nd stage"}},
    {Problem, {"问题", "出错", "problem", "issue", "trouble", "wrong", "问题出在", "loss", "损失"}},
    {Matmul, {"矩阵乘", "矩阵乘法", "矩阵相乘", "gemm", "matmul", "matmuls", "matrix multiplication", "matrix multiply",
              "matrix multiplications", "matrix product", "matrix products", "matrix multiplies", "matrix mul"}},
    {Tile, {"tile", "tiles", "tiling", "tile size", "tile sizes", "分块", "分块大小", "tile大小", "tile尺寸", "块大小",
            "瓦片", "tiled", "block size"}},
    {TooLarge, {"过大", "太大", "大了", "larger", "too large", "too big", "bigger", "larger tiles", "larger one",
                "a larger tile", "larger ones"}},
    {TooSmall, {"过小", "太小", "小了", "smaller", "too small", "smaller tiles", "smaller one", "a smaller tile",
                "smaller ones"}},
    {NotEnough, {"不够", "不足", "放不下", "不够用", "装不下", "does not fit", "do not fit", "doesn t fit", "don t fit",
                 "not enough", "will not fit", "runs out of", "insufficient", "would not fit", "run out of", "overflows",
                 "overflow", "exceeds", "exceed", "won t fit", "not fit"}},
    {Increase, {"增加", "导致", "带来", "引起", "造成", "产生", "increases", "increase", "causes", "cause", "brings",
                "adds", "add", "more", "has", "have", "gives", "raise", "raises"}},
    {Shared, {"shared memory", "shared mem", "smem", "共享内存", "共享存储", "shared内存", "共享存储器", "共享记忆体", "共用记忆体", "sharedmemory"}},
    {BankConflict, {"bank conflict", "bank conflicts", "bank冲突", "bank 冲突", "存储体冲突", "跨bank连续冲突",
                    "跨bank冲突", "跨 bank 连续冲突", "连续冲突", "cross bank conflict", "cross bank conflicts",
                    "consecutive cross bank conflicts", "consecutive conflicts across banks", "conflicts across banks",
                    "consecutive bank conflicts", "consecutive cross bank conflict", "跨bank连续访问冲突",
                    "continuous cross bank conflicts", "bankconflict"}},
    {Avoid, {"避免", "防止", "减少", "消除", "以避免", "avoid", "avoids", "avoiding", "prevent", "preventing", "free of",
             "to avoid", "reduce the", "eliminate", "避免产生", "避免出现", "没有", "无"}},
    {Reduce, {"reduce", "reduction", "reductions", "规约", "归约", "reduces", "reducing"}},
    {Stride, {"stride", "strides", "步长", "跨步", "步幅", "strided"}},
    {KeyValue, {"k/v", "kv", "k和v", "k 和 v", "k、v", "k与v", "k and v", "keys and values", "key/value", "k & v", "k,v", "k, v",
                "key and value", "k 与 v", "k 、 v"}},
    {Matrix, {"矩阵", "matrices", "matrix", "tensors", "张量"}},
    {RowMajor, {"row major", "行主序", "行优先", "按行", "rowmajor", "row major order", "row major layout", "按行存储",
                "row by row", "按行主序", "按行优先"}},
    {ColumnMajor, {"column major", "col major", "列主序", "列优先", "按列", "columnmajor", "colmajor",
                   "column major order", "按列存储", "按列主序", "按列优先"}},
};

static const Words connections[] = {
    {First, {"先", "首先", "优先", "优先于", "第一", "first", "firstly", "comes first", "takes priority over", "优先保证",
             "has priority over", "takes precedence over", "首要"}},
    {Then, {"再", "然后", "之后", "其次", "后", "then", "after", "afterwards", "after that", "only then", "next",
            "接着", "later", "second"}},
    {Before, {"before", "prior to", "先于", "早于", "之前", "ahead of"}},
    {And, {"和", "与", "且", "并且", "并", "同时", "以及", "、", "及", "而且", "and", "also", "&", "+"}},
    {But, {"而是", "而", "但", "但是", "but", "要用"}},
    {Because, {"因为", "由于", "所以", "因此", "否则", "because", "since", "otherwise", "as otherwise", "so that", "so"}},
};

static const Words fillers[] = {
    {Filler, {"把", "将", "这个", "这", "该", "此", "成", "要求", "必须", "务必", "需要", "需", "应", "应该", "应当", "使用",
              "用", "采用", "的", "地", "得", "请", "帮我", "帮忙", "做", "进行", "时", "时候", "按", "按照", "以", "会", "在",
              "于", "中", "上", "里", "内", "下", "要", "让", "使", "是", "设为", "设置为", "设成", "取", "选", "选用", "保持",
              "当前", "目前", "现在", "出在", "在于", "位于", "来自", "大小", "尺寸", "处", "都", "一律", "始终", "全程", "到处",
              "处处", "能", "一下", "来", "对", "给", "我", "我们", "有", "每次", "所有", "整体",
              "相当于", "一个", "一次", "最终", "结果", "写成", "成为", "变成", "只", "接受", "只接受", "计算"}},
    {Filler, {"a", "an", "the", "this", "that", "these", "those", "to", "with", "by", "must", "should", "shall", "use",
              "using", "used", "is", "are", "be", "been", "was", "please", "into", "onto", "for", "in", "on", "at", "it",
              "its", "as", "from", "will", "would", "can", "need", "needs", "needed", "require",
              "requires", "required", "requirement", "requirements", "i", "we", "you", "want", "wants", "me", "us", "my",
              "our", "have to", "has to", "lies", "lie", "comes from", "come from", "current", "currently", "now",
              "present", "everywhere", "throughout", "always", "both", "all", "each", "when", "while", "do", "doing",
              "done", "run", "runs", "running", "go", "goes", "remain", "remains", "stay", "stays", "only", "accept",
              "accepted", "which", "there", "s", "set", "sized", "size", "sizes", "keeping",
              "out", "through", "per", "them", "their", "what", "form", "written", "up", "end", "layout", "one",
              "performing", "that of", "in the", "of the", "of an", "of a", "steps", 
              "maintain", "maintained", "choose", "pick", "take", "=", "==", "level", "of", "为", "到"}},
};

std::span<const Words> lexiconWords() {
  static const std::vector<Words> all = [] {
    std::vector<Words> joined;
    for (std::span<const Words> table : {std::span<const Words>(actions), std::span<const Words>(measures),
                                         std::span<const Words>(structure), std::span<const Words>(connections),
                                         std::span<const Words>(fillers)})
      joined.insert(joined.end(), table.begin(), table.end());
    return joined;
  }();
  return all;
}

std::span<const Compound> compounds() {
  static const std::vector<Compound> all = {
      {{Not, Naive, Softmax}, NotNaive},         {{Not, Naive, Algorithm}, NotNaive},
      {{Not, Naive}, NotNaive},                  {{Avoid, Naive, Softmax}, NotNaive},
      {{Avoid, Naive}, NotNaive},                {{Avoid, Shared, BankConflict}, AvoidConflict},
      {{Avoid, BankConflict}, AvoidConflict},    {{Not, BankConflict}, AvoidConflict},
      {{Reduce, BankConflict}, AvoidConflict},
  };
  return all;
}

} // namespace opsight::port
