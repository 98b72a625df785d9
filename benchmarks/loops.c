/* Loops over states around functions that are given by their address, for Python's ctypes.

   `rows[i]` is the first state of argument i, `widths[i]` its numbers in one state. Every contender
   runs in such a loop, so that the loop costs each the same. */

#define MOST 8

typedef void (*f2)(double *, double *);
typedef void (*f3)(double *, double *, double *);
typedef void (*f4)(double *, double *, double *, double *);
typedef void (*f5)(double *, double *, double *, double *, double *);
typedef void (*f6)(double *, double *, double *, double *, double *, double *);
typedef void (*f7)(double *, double *, double *, double *, double *, double *, double *);
typedef int (*casadi)(const double **, double **, long long *, double *, int);

static void call(void *f, int count, double **x) {
    switch (count) {
    case 2: ((f2)f)(x[0], x[1]); break;
    case 3: ((f3)f)(x[0], x[1], x[2]); break;
    case 4: ((f4)f)(x[0], x[1], x[2], x[3]); break;
    case 5: ((f5)f)(x[0], x[1], x[2], x[3], x[4]); break;
    case 6: ((f6)f)(x[0], x[1], x[2], x[3], x[4], x[5]); break;
    case 7: ((f7)f)(x[0], x[1], x[2], x[3], x[4], x[5], x[6]); break;
    }
}

/* One of our native functions: one pointer for each input and output. */
void loop_native(void *f, int count, double **rows, const long *widths, long states, long repeats) {
    for (long r = 0; r < repeats; ++r) {
        double *x[MOST];
        for (int i = 0; i < count; ++i) x[i] = rows[i];
        for (long s = 0; s < states; ++s) {
            call(f, count, x);
            for (int i = 0; i < count; ++i) x[i] += widths[i];
        }
    }
}

/* A function that CasADi wrote; its last argument is the one output. */
void loop_casadi(void *f, int count, double **rows, const long *widths, long states, long repeats,
                 long long *iw, double *w) {
    for (long r = 0; r < repeats; ++r) {
        double *x[MOST];
        for (int i = 0; i < count; ++i) x[i] = rows[i];
        for (long s = 0; s < states; ++s) {
            double *result[1] = {x[count - 1]};
            ((casadi)f)((const double **)x, result, iw, w, 0);
            for (int i = 0; i < count; ++i) x[i] += widths[i];
        }
    }
}
