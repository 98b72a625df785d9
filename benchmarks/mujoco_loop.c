/* Loops over states with MuJoCo's cheapest calls for a quantity, for Python's ctypes. */

#include <mujoco/mujoco.h>
#include <string.h>

/* The order is that of ALGORITHMS in contenders_mujoco.py. */
enum { INVERSE_DYNAMICS, MASS_MATRIX, FORWARD_DYNAMICS };

static void full_matrix(const mjModel *m, mjData *d, double *out) {
#if mjVERSION_HEADER >= 1000000
    mj_makeM(m, d);
    mj_fullM(m, d, out);
#else
    mj_crb(m, d);
    mj_fullM(m, out, d->qM);
#endif
}

void mujoco_loop(const mjModel *m, mjData *d, int algorithm, long repeats, long states,
                 const double *q, const double *v, const double *x, double *out) {
    const long nq = m->nq, nv = m->nv;
    for (long r = 0; r < repeats; ++r) {
        for (long s = 0; s < states; ++s) {
            memcpy(d->qpos, q + s * nq, nq * sizeof(double));
            memcpy(d->qvel, v + s * nv, nv * sizeof(double));
            switch (algorithm) {
            case INVERSE_DYNAMICS:
                mj_kinematics(m, d);
                mj_comPos(m, d);
                mj_comVel(m, d);
                memcpy(d->qacc, x + s * nv, nv * sizeof(double));
                mj_rne(m, d, 1, out + s * nv);
                break;
            case MASS_MATRIX:
                mj_kinematics(m, d);
                mj_comPos(m, d);
                full_matrix(m, d, out + s * nv * nv);
                break;
            case FORWARD_DYNAMICS:
                memcpy(d->qfrc_applied, x + s * nv, nv * sizeof(double));
                mj_forward(m, d);
                memcpy(out + s * nv, d->qacc, nv * sizeof(double));
                break;
            }
        }
    }
}
