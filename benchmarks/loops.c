/* Loops over states around functions that are given by their address, for Python's ctypes.

   `rows[i]` is the first state of argument i, `widths[i]` its numbers in one state. */

#include <stdint.h>

#define MOST 8
#define P double *
#define BP double *, int64_t

typedef int (*casadi)(const double **, double **, long long *, double *, int);

#define EACH(call)                                                  \
    for (long r = 0; r < repeats; ++r) {                            \
        double *x[MOST];                                            \
        for (int i = 0; i < count; ++i) x[i] = rows[i];             \
        for (long s = 0; s < states; ++s) {                         \
            call;                                                   \
            _Pragma("GCC unroll 8") for (int i = 0; i < count; ++i) \
                x[i] += widths[i];                                  \
        }                                                           \
    }

/* One of our native functions: one pointer for each input and output. */
void loop_native(void *f, int arguments, double **rows, const long *widths, long states,
                 long repeats) {
    switch (arguments) {
#define CASE(n, types, ...)                                         \
    case n: {                                                       \
        enum { count = n };                                         \
        EACH(((void (*) types)f)(__VA_ARGS__));                     \
        break;                                                      \
    }
    CASE(2, (P, P), x[0], x[1])
    CASE(3, (P, P, P), x[0], x[1], x[2])
    CASE(4, (P, P, P, P), x[0], x[1], x[2], x[3])
    CASE(5, (P, P, P, P, P), x[0], x[1], x[2], x[3], x[4])
    CASE(6, (P, P, P, P, P, P), x[0], x[1], x[2], x[3], x[4], x[5])
    CASE(7, (P, P, P, P, P, P, P), x[0], x[1], x[2], x[3], x[4], x[5], x[6])
#undef CASE
    }
}

/* One of our native functions of a batch: pointer and stride in bytes for each argument. */
void loop_batch(void *f, int arguments, double **x, const long *strides, long states,
                long repeats) {
#define A(i) x[i], strides[i]
    for (long r = 0; r < repeats; ++r) {
        switch (arguments) {
#define CASE(n, types, ...)                                         \
    case n:                                                         \
        ((void (*) types)f)(states, __VA_ARGS__);                   \
        break;
        CASE(2, (int64_t, BP, BP), A(0), A(1))
        CASE(3, (int64_t, BP, BP, BP), A(0), A(1), A(2))
        CASE(4, (int64_t, BP, BP, BP, BP), A(0), A(1), A(2), A(3))
        CASE(5, (int64_t, BP, BP, BP, BP, BP), A(0), A(1), A(2), A(3), A(4))
        CASE(6, (int64_t, BP, BP, BP, BP, BP, BP), A(0), A(1), A(2), A(3), A(4), A(5))
        CASE(7, (int64_t, BP, BP, BP, BP, BP, BP, BP), A(0), A(1), A(2), A(3), A(4), A(5), A(6))
#undef CASE
        }
    }
}

/* A function that CasADi wrote: three inputs, one output. */
void loop_casadi(void *f, double **rows, const long *widths, long states, long repeats,
                 long long *iw, double *w) {
    enum { count = 4 };
    EACH(((casadi)f)((const double **)x, x + 3, iw, w, 0));
}
