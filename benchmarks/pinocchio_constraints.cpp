// A loop over states with Pinocchio's constraintDynamics, for Python's ctypes.
//
// As pinocchio_loop.cpp: the headers are instantiated here, states are made into vectors before the
// clock runs, and the accelerations are copied to the caller's memory.

#include <Eigen/StdVector>
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>

#include <string>
#include <vector>

using namespace pinocchio;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using RowMajor3 = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;

namespace {

struct Loops {
    Model model;
    std::vector<Data> data;               // one, made when the model is complete
    std::vector<RigidConstraintModel, Eigen::aligned_allocator<RigidConstraintModel>> cuts;
    std::vector<RigidConstraintData, Eigen::aligned_allocator<RigidConstraintData>> cut_data;
    std::vector<VectorXd> q, v, tau;
};

SE3 place(const double *R, const double *p) {
    const Matrix3d rotation = RowMajor3(R);
    return SE3(rotation, Vector3d(p[0], p[1], p[2]));
}

}  // namespace

extern "C" {

void *loops_new(const double *gravity) {
    Loops *loops = new Loops;
    loops->model.gravity.linear() = Vector3d(gravity);
    return loops;
}

// kind: Pinocchio's short name; axes: one or two; inertia: mass, com, 3x3 tensor about it. 0: done.
int loops_add(void *handle, int parent, const char *kind, const double *axes, const double *R,
              const double *p, const double *inertia) {
    Model &model = static_cast<Loops *>(handle)->model;
    const SE3 at = place(R, p);
    const std::string type = kind, name = "joint" + std::to_string(model.njoints);
    const Vector3d one(axes), two(axes + 3);
    JointIndex k;
    if (type == "JointModelRX") k = model.addJoint(parent, JointModelRX(), at, name);
    else if (type == "JointModelRY") k = model.addJoint(parent, JointModelRY(), at, name);
    else if (type == "JointModelRZ") k = model.addJoint(parent, JointModelRZ(), at, name);
    else if (type == "JointModelPX") k = model.addJoint(parent, JointModelPX(), at, name);
    else if (type == "JointModelPY") k = model.addJoint(parent, JointModelPY(), at, name);
    else if (type == "JointModelPZ") k = model.addJoint(parent, JointModelPZ(), at, name);
    else if (type == "JointModelSpherical")
        k = model.addJoint(parent, JointModelSpherical(), at, name);
    else if (type == "JointModelFreeFlyer")
        k = model.addJoint(parent, JointModelFreeFlyer(), at, name);
    else if (type == "JointModelUniversal")
        k = model.addJoint(parent, JointModelUniversal(one, two), at, name);
    else if (type == "JointModelRevoluteUnaligned")
        k = model.addJoint(parent, JointModelRevoluteUnaligned(one), at, name);
    else if (type == "JointModelPrismaticUnaligned")
        k = model.addJoint(parent, JointModelPrismaticUnaligned(one), at, name);
    else return 1;
    const Matrix3d tensor = RowMajor3(inertia + 4);
    model.appendBodyToJoint(k, Inertia(inertia[0], Vector3d(inertia + 1), tensor), SE3::Identity());
    return 0;
}

void loops_cut(void *handle, int a, const double *R_a, const double *p_a, int b, const double *R_b,
               const double *p_b) {
    Loops &loops = *static_cast<Loops *>(handle);
    loops.cuts.emplace_back(CONTACT_3D, loops.model, a, place(R_a, p_a), b, place(R_b, p_b), LOCAL);
}

void loops_states(void *handle, long n, const double *q, const double *v, const double *tau) {
    Loops &loops = *static_cast<Loops *>(handle);
    const int nq = loops.model.nq, nv = loops.model.nv;
    loops.data.assign(1, Data(loops.model));
    loops.cut_data.clear();
    for (const RigidConstraintModel &cut : loops.cuts) loops.cut_data.push_back(cut.createData());
    initConstraintDynamics(loops.model, loops.data[0], loops.cuts, loops.cut_data);
    loops.q.clear(); loops.v.clear(); loops.tau.clear();
    for (long i = 0; i < n; ++i) {
        loops.q.emplace_back(Eigen::Map<const VectorXd>(q + i * nq, nq));
        loops.v.emplace_back(Eigen::Map<const VectorXd>(v + i * nv, nv));
        loops.tau.emplace_back(Eigen::Map<const VectorXd>(tau + i * nv, nv));
    }
}

void loops_run(void *handle, long repeats, double *results) {
    Loops &loops = *static_cast<Loops *>(handle);
    for (long r = 0; r < repeats; ++r) {
        double *out = results;
        for (size_t i = 0; i < loops.q.size(); ++i) {
            ProximalSettings settings(1e-14, 1e-14, 1e-12, 2);
            const VectorXd &a = constraintDynamics(loops.model, loops.data[0], loops.q[i],
                                                   loops.v[i], loops.tau[i], loops.cuts,
                                                   loops.cut_data, settings);
            Eigen::Map<VectorXd>(out, a.size()) = a;
            out += a.size();
        }
    }
}

void loops_delete(void *handle) { delete static_cast<Loops *>(handle); }

}  // extern "C"
