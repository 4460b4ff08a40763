#include <numeric>

void sum_plain(const double *x, double *total, int n) { *total = std::accumulate(x, x + n, 0.0); }
