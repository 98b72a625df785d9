// Loops over states with Pinocchio's algorithms, for Python's ctypes.
//
// The headers are instantiated here, for this machine; nothing is linked. States are made into
// vectors before the clock runs; every result is copied to the caller's memory, as our kernels do.

#include <Eigen/StdVector>
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <string>
#include <vector>

using namespace pinocchio;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

// The order is that of ALGORITHMS in contenders_pinocchio.py.
enum Algorithm {
    RNEA, CRBA_LOCAL, CRBA_WORLD, ABA_LOCAL, ABA_WORLD, CHOLESKY, MATRICES_LOCAL, MATRICES_WORLD,
    DERIVATIVES
};

struct Bench {
    Model model;
    std::vector<Data> data;               // one, made when the model is complete
    std::vector<VectorXd> q, v, a;
};

void put(double *&out, const VectorXd &x) {
    Eigen::Map<VectorXd>(out, x.size()) = x;
    out += x.size();
}

template <class Matrix>
void put_matrix(double *&out, const Matrix &x) {
    Eigen::Map<RowMajor>(out, x.rows(), x.cols()) = x;
    out += x.size();
}

void matrices(const Model &model, Data &data, const VectorXd &q, const VectorXd &v,
              Convention convention, double *&out) {
    put_matrix(out, crba(model, data, q, convention));
    put_matrix(out, computeCoriolisMatrix(model, data, q, v));
    put(out, computeGeneralizedGravity(model, data, q));
}

void by_cholesky(const Model &model, Data &data, const VectorXd &q, const VectorXd &v,
                 const VectorXd &tau, VectorXd &x) {
    x = tau - nonLinearEffects(model, data, q, v);
    crba(model, data, q, Convention::WORLD);
    cholesky::decompose(model, data);
    cholesky::solve(model, data, x);
}

void derivatives(const Model &model, Data &data, const VectorXd &q, const VectorXd &v,
                 const VectorXd &a, double *&out) {
    computeRNEADerivatives(model, data, q, v, a);
    put_matrix(out, data.dtau_dq);
    put_matrix(out, data.dtau_dv);
    put_matrix(out, data.M);
    put(out, data.tau);
}

}  // namespace

extern "C" {

void *bench_new(const double *gravity) {
    Bench *bench = new Bench;
    bench->model.gravity.linear() = Vector3d(gravity);
    return bench;
}

// kind: Pinocchio's short name; inertia: mass, centre of mass, 3x3 tensor about it. 0 on success.
int bench_add(void *handle, int parent, const char *kind, const double *axis, const double *R,
              const double *p, const double *inertia) {
    Model &model = static_cast<Bench *>(handle)->model;
    using Tensor = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;
    const Matrix3d rotation = Tensor(R);
    const SE3 place(rotation, Vector3d(p[0], p[1], p[2]));
    const std::string type = kind, name = "joint" + std::to_string(model.njoints);
    JointIndex k;
    if (type == "JointModelRX") k = model.addJoint(parent, JointModelRX(), place, name);
    else if (type == "JointModelRY") k = model.addJoint(parent, JointModelRY(), place, name);
    else if (type == "JointModelRZ") k = model.addJoint(parent, JointModelRZ(), place, name);
    else if (type == "JointModelFreeFlyer")
        k = model.addJoint(parent, JointModelFreeFlyer(), place, name);
    else if (type == "JointModelRevoluteUnaligned")
        k = model.addJoint(parent, JointModelRevoluteUnaligned(Vector3d(axis)), place, name);
    else return 1;
    const Matrix3d tensor = Tensor(inertia + 4);
    model.appendBodyToJoint(k, Inertia(inertia[0], Vector3d(inertia + 1), tensor), SE3::Identity());
    return 0;
}

void bench_states(void *handle, long n, const double *q, const double *v, const double *a) {
    Bench &bench = *static_cast<Bench *>(handle);
    const int nq = bench.model.nq, nv = bench.model.nv;
    bench.data.assign(1, Data(bench.model));
    bench.q.clear(); bench.v.clear(); bench.a.clear();
    for (long i = 0; i < n; ++i) {
        bench.q.emplace_back(Eigen::Map<const VectorXd>(q + i * nq, nq));
        bench.v.emplace_back(Eigen::Map<const VectorXd>(v + i * nv, nv));
        bench.a.emplace_back(Eigen::Map<const VectorXd>(a + i * nv, nv));
    }
}

void bench_run(void *handle, int algorithm, long repeats, double *results) {
    Bench &bench = *static_cast<Bench *>(handle);
    const Model &model = bench.model;
    Data &data = bench.data[0];
    VectorXd x(model.nv);
    for (long r = 0; r < repeats; ++r) {
        double *out = results;
        for (size_t i = 0; i < bench.q.size(); ++i) {
            const VectorXd &q = bench.q[i], &v = bench.v[i], &a = bench.a[i];
            switch (algorithm) {
            case RNEA: put(out, rnea(model, data, q, v, a)); break;
            case CRBA_LOCAL: put_matrix(out, crba(model, data, q, Convention::LOCAL)); break;
            case CRBA_WORLD: put_matrix(out, crba(model, data, q, Convention::WORLD)); break;
            case ABA_LOCAL: put(out, aba(model, data, q, v, a, Convention::LOCAL)); break;
            case ABA_WORLD: put(out, aba(model, data, q, v, a, Convention::WORLD)); break;
            case CHOLESKY: by_cholesky(model, data, q, v, a, x); put(out, x); break;
            case MATRICES_LOCAL: matrices(model, data, q, v, Convention::LOCAL, out); break;
            case MATRICES_WORLD: matrices(model, data, q, v, Convention::WORLD, out); break;
            case DERIVATIVES: derivatives(model, data, q, v, a, out); break;
            }
        }
    }
}

void bench_delete(void *handle) { delete static_cast<Bench *>(handle); }

}  // extern "C"
