// What saxpy means, in double where it matters: the buffers are float, and the judge hands them over as doubles.
void saxpy_plain(int n, double a, const double *x, double *y) {
  for (int i = 0; i < n; ++i)
    y[i] = a * x[i] + y[i];
}
