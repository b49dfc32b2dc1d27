// The kernels in ISPC, one exported function per kernel: the peer that autobatch is held against.
// Every kernel takes columns (one element per batch member) and writes one result per member, as the
// scalar Rust function of the same name does.

#include "names.isph"

static inline int mandel_one(float c_re, float c_im, int limit) {
    float z_re = c_re, z_im = c_im;
    int i = 0;
    while (i < limit) {
        if (z_re * z_re + z_im * z_im > 4.0f) break;
        float re = z_re * z_re - z_im * z_im;
        float im = 2.0f * z_re * z_im;
        z_re = c_re + re;
        z_im = c_im + im;
        i++;
    }
    return i;
}
export void KERNEL(mandel)(uniform const float re[], uniform const float im[], uniform int out[],
                        uniform int n, uniform int limit) {
    foreach (k = 0 ... n) out[k] = mandel_one(re[k], im[k], limit);
}

static inline unsigned int collatz_one(unsigned int64 x) {
    unsigned int64 n = x;
    unsigned int steps = 0;
    while (n != 1) {
        if ((n & 1) == 0) n = n >> 1; else n = 3 * n + 1;
        steps++;
    }
    return steps;
}
export void KERNEL(collatz)(uniform const unsigned int64 x[], uniform unsigned int out[], uniform int n) {
    foreach (k = 0 ... n) out[k] = collatz_one(x[k]);
}

static unsigned int64 fib_one(unsigned int64 n) {
    if (n <= 1) return 1;
    unsigned int64 left = fib_one(n - 2);
    unsigned int64 right = fib_one(n - 1);
    return left + right;
}
export void KERNEL(fib)(uniform const unsigned int64 x[], uniform unsigned int64 out[], uniform int n) {
    foreach (k = 0 ... n) out[k] = fib_one(x[k]);
}

// adaptive Simpson quadrature of 1/(1+k x^2) + x^2 over [-1,1]
static inline double integrand(double x, double k) { return 1.0d / (1.0d + k * x * x) + x * x; }
static double simpson_one(double k, double a, double fa, double b, double fb, double m, double fm,
                   double whole, double eps, int depth) {
    double lm = 0.5d * (a + m), rm = 0.5d * (m + b);
    double flm = integrand(lm, k), frm = integrand(rm, k);
    double left = (m - a) * 0.16666666666666666d * (fa + 4.0d * flm + fm);
    double right = (b - m) * 0.16666666666666666d * (fm + 4.0d * frm + fb);
    double delta = left + right - whole;
    if (depth <= 0 || abs(delta) <= 15.0d * eps) return left + right + delta * 0.06666666666666667d;
    return simpson_one(k, a, fa, m, fm, lm, flm, left, eps * 0.5d, depth - 1)
         + simpson_one(k, m, fm, b, fb, rm, frm, right, eps * 0.5d, depth - 1);
}
export void KERNEL(simpson)(uniform const double kk[], uniform double out[], uniform int n, uniform double eps) {
    foreach (j = 0 ... n) {
        double k = kk[j];
        double fa = integrand(-1.0d, k), fb = integrand(1.0d, k), fm = integrand(0.0d, k);
        double whole = 2.0d * 0.16666666666666666d * (fa + 4.0d * fm + fb);
        out[j] = simpson_one(k, -1.0d, fa, 1.0d, fb, 0.0d, fm, whole, eps, 40);
    }
}

// Black-Scholes call with the Abramowitz-Stegun normal distribution
static inline float cnd(float x) {
    float l = abs(x);
    float k = 1.0f / (1.0f + 0.2316419f * l);
    float w = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    w *= 0.3989422804f * exp(-l * l * 0.5f);
    if (x > 0.0f) w = 1.0f - w;
    return w;
}
export void KERNEL(black_scholes)(uniform const float s[], uniform const float x[], uniform const float t[],
                               uniform const float r[], uniform const float v[], uniform float out[], uniform int n) {
    foreach (k = 0 ... n) {
        float d1 = (log(s[k] / x[k]) + (r[k] + v[k] * v[k] * 0.5f) * t[k]) / (v[k] * sqrt(t[k]));
        float d2 = d1 - v[k] * sqrt(t[k]);
        out[k] = s[k] * cnd(d1) - x[k] * exp(-r[k] * t[k]) * cnd(d2);
    }
}

// Binomial option tree, 64 steps, one small array per member
export void KERNEL(binomial)(uniform const float s[], uniform const float x[], uniform const float t[],
                          uniform const float r[], uniform const float v[], uniform float out[], uniform int n) {
    foreach (q = 0 ... n) {
        float val[65];
        float dt = t[q] / 64.0f;
        float u = exp(v[q] * sqrt(dt));
        float d = 1.0f / u;
        float disc = exp(r[q] * dt);
        float pu = (disc - d) / (u - d);
        float up = s[q] * pow(d, 64.0f);
        for (uniform int j = 0; j <= 64; ++j) { val[j] = max(0.0f, x[q] - up); up *= u * u; }
        for (uniform int j = 64; j > 0; --j)
            for (uniform int k = 0; k < j; ++k)
                val[k] = ((1.0f - pu) * val[k] + pu * val[k + 1]) / disc;
        out[q] = val[0];
    }
}

// Greatest common divisors by Euclid
static inline unsigned int64 gcd_one(unsigned int64 a, unsigned int64 b) {
    while (b != 0) {
        unsigned int64 rest = a % (b == 0 ? 1 : b); // lanes that are done divide too
        a = b;
        b = rest;
    }
    return a;
}
export void KERNEL(gcd)(uniform const unsigned int64 a[], uniform const unsigned int64 b[],
                        uniform unsigned int64 out[], uniform int n) {
    foreach (k = 0 ... n) out[k] = gcd_one(a[k], b[k]);
}

// The n queens
static unsigned int place(unsigned int all, unsigned int columns, unsigned int left, unsigned int right) {
    if (columns == all) return 1;
    unsigned int open = all & ~(columns | left | right);
    unsigned int count = 0;
    while (open != 0) {
        unsigned int queen = open & (0 - open);
        open ^= queen;
        count += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return count;
}
export void KERNEL(queens)(uniform const unsigned int size[], uniform const unsigned int first[],
                           uniform unsigned int out[], uniform int n) {
    foreach (k = 0 ... n) {
        unsigned int queen = 1u << first[k];
        out[k] = place((1u << size[k]) - 1, queen, queen << 1, queen >> 1);
    }
}

// A root by Newton's method, safeguarded by bisection
static inline double newton_one(double a, double b) {
    double c2 = b - 1.0d;
    double c1 = a - (3.0d * b + 2.0d) * b;
    double c0 = (b + b * b - a) * b;
    double low = b, high = 2.0d + b, z = 1.0d;
    for (uniform int steps = 0; steps < 100; ++steps) {
        double value = ((z + c2) * z + c1) * z + c0;
        if (value < 0.0d) low = z; else high = z;
        double next = z - value / ((3.0d * z + 2.0d * c2) * z + c1);
        if (next <= low || next >= high) next = 0.5d * (low + high);
        if (abs(next - z) <= 1e-12d) return next;
        z = next;
    }
    return z;
}
export void KERNEL(newton)(uniform const double a[], uniform const double b[], uniform double out[],
                           uniform int n) {
    foreach (k = 0 ... n) out[k] = newton_one(a[k], b[k]);
}

// Bogacki and Shampine's solver on Van der Pol's oscillator
static inline double acceleration(double mu, double x, double v) { return mu * (1.0d - x * x) * v - x; }
static inline double ode_one(double mu, uniform double end, uniform double tolerance) {
    double t = 0.0d, h = 1e-2d, x = 2.0d, v = 0.0d;
    double a = acceleration(mu, x, v);
    while (t < end) {
        if (t + h > end) h = end - t;
        double v2 = v + 0.5d * h * a, x2 = x + 0.5d * h * v;
        double a2 = acceleration(mu, x2, v2);
        double v3 = v + 0.75d * h * a2, x3 = x + 0.75d * h * v2;
        double a3 = acceleration(mu, x3, v3);
        double x_new = x + h * (2.0d * v + 3.0d * v2 + 4.0d * v3) * 0.1111111111111111d;
        double v_new = v + h * (2.0d * a + 3.0d * a2 + 4.0d * a3) * 0.1111111111111111d;
        double a_new = acceleration(mu, x_new, v_new);
        double x_error = h * (-5.0d * v + 6.0d * v2 + 8.0d * v3 - 9.0d * v_new) * 0.013888888888888888d;
        double v_error = h * (-5.0d * a + 6.0d * a2 + 8.0d * a3 - 9.0d * a_new) * 0.013888888888888888d;
        double error = max(abs(x_error), abs(v_error));
        if (error <= tolerance) {
            t += h;
            x = x_new;
            v = v_new;
            a = a_new;
            if (error < 0.05d * tolerance) h *= 2.0d;
        } else {
            h *= 0.5d;
        }
    }
    return x;
}
export void KERNEL(ode)(uniform const double mu[], uniform double out[], uniform int n, uniform double end,
                        uniform double tolerance) {
    foreach (k = 0 ... n) out[k] = ode_one(mu[k], end, tolerance);
}

// The bounce loop of a path tracer
struct Sphere {
    float x, y, z, radius, albedo, emission;
    unsigned int mirror;
};
static inline unsigned int advance(unsigned int state) { return state * 747796405u + 2891336453u; }
static inline float unit(unsigned int state) {
    unsigned int word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (float)(int)(((word >> 22) ^ word) >> 8) * (1.0f / 16777216.0f);
}
static inline float radiance(float px, float py, unsigned int seed, uniform const Sphere scene[],
                             uniform int spheres) {
    unsigned int state = advance(seed);
    float scale = 1.0f / sqrt(px * px + py * py + 2.25f);
    float ox = 0.0f, oy = 1.0f, oz = 5.0f;
    float dx = px * scale, dy = py * scale, dz = -1.5f * scale;
    float light = 0.0f, throughput = 1.0f;
    for (uniform int bounce = 0; bounce < 32; ++bounce) {
        float distance = 1e30f;
        int hit = 0;
        for (uniform int i = 0; i < spheres; ++i) {
            float cx = scene[i].x - ox, cy = scene[i].y - oy, cz = scene[i].z - oz;
            float along = cx * dx + cy * dy + cz * dz;
            float square = along * along - (cx * cx + cy * cy + cz * cz) + scene[i].radius * scene[i].radius;
            if (square > 0.0f) {
                float root = sqrt(square);
                float near = along - root > 1e-3f ? along - root : along + root;
                if (near > 1e-3f && near < distance) {
                    distance = near;
                    hit = i;
                }
            }
        }
        if (distance == 1e30f) return light + throughput * (0.6f + 0.4f * dy);
        Sphere sphere = scene[hit];
        light += throughput * sphere.emission;
        throughput *= sphere.albedo;
        if (bounce >= 3) {
            state = advance(state);
            if (unit(state) >= throughput) return light;
            throughput = 1.0f;
        }
        ox += distance * dx;
        oy += distance * dy;
        oz += distance * dz;
        float inverse = 1.0f / sphere.radius;
        float nx = (ox - sphere.x) * inverse, ny = (oy - sphere.y) * inverse, nz = (oz - sphere.z) * inverse;
        if (sphere.mirror != 0) {
            float twice = 2.0f * (dx * nx + dy * ny + dz * nz);
            dx -= twice * nx;
            dy -= twice * ny;
            dz -= twice * nz;
        } else {
            float ux, uy, uz, square;
            do {
                state = advance(state);
                ux = 2.0f * unit(state) - 1.0f;
                state = advance(state);
                uy = 2.0f * unit(state) - 1.0f;
                state = advance(state);
                uz = 2.0f * unit(state) - 1.0f;
                square = ux * ux + uy * uy + uz * uz;
            } while (square > 1.0f || square <= 1e-4f);
            float onto = 0.999f / sqrt(square);
            dx = nx + onto * ux;
            dy = ny + onto * uy;
            dz = nz + onto * uz;
            float unit_length = 1.0f / sqrt(dx * dx + dy * dy + dz * dz);
            dx *= unit_length;
            dy *= unit_length;
            dz *= unit_length;
        }
    }
    return light;
}
export void KERNEL(path_tracer)(uniform const float px[], uniform const float py[],
                                uniform const unsigned int seed[], uniform float out[], uniform int n,
                                uniform const Sphere scene[], uniform int spheres) {
    foreach (k = 0 ... n) out[k] = radiance(px[k], py[k], seed[k], scene, spheres);
}

// Nearest neighbours in a k-d tree
struct Node {
    float x, y, z;
    unsigned int axis, below, above;
};
static float visit(uniform const Node tree[], unsigned int at, float x, float y, float z, float best) {
    if (at == 0xffffffffu) return best;
    float dx = x - tree[at].x, dy = y - tree[at].y, dz = z - tree[at].z;
    best = min(best, dx * dx + dy * dy + dz * dz);
    unsigned int axis = tree[at].axis;
    float across = axis == 0 ? dx : axis == 1 ? dy : dz;
    unsigned int below = tree[at].below, above = tree[at].above;
    unsigned int near = across < 0.0f ? below : above, far = across < 0.0f ? above : below;
    best = visit(tree, near, x, y, z, best);
    if (across * across < best) best = visit(tree, far, x, y, z, best);
    return best;
}
export void KERNEL(tree_walk)(uniform const float x[], uniform const float y[], uniform const float z[],
                              uniform float out[], uniform int n, uniform const Node tree[]) {
    foreach (k = 0 ... n) out[k] = visit(tree, 0, x[k], y[k], z[k], 1e30f);
}

// The knapsack problem by branch and bound
struct Item {
    unsigned int value, weight;
};
static unsigned int branch(uniform const Item items[], unsigned int next, unsigned int end, unsigned int room,
                           unsigned int value, unsigned int best) {
    if (next == end) return max(best, value);
    unsigned int bound = value, left = room, i = next;
    while (i < end) {
        unsigned int weight = items[i].weight;
        if (weight > left) break;
        bound += items[i].value;
        left -= weight;
        i++;
    }
    if (i < end) bound += left * items[i].value / max(items[i].weight, 1u); // idle lanes divide too
    if (bound <= best) return best;
    Item item = items[next];
    if (item.weight <= room)
        best = branch(items, next + 1, end, room - item.weight, value + item.value, best);
    return branch(items, next + 1, end, room, value, best);
}
export void KERNEL(knapsack)(uniform const unsigned int first[], uniform const unsigned int end[],
                             uniform const unsigned int room[], uniform unsigned int out[], uniform int n,
                             uniform const Item items[]) {
    foreach (k = 0 ... n) out[k] = branch(items, first[k], end[k], room[k], 0, 0);
}

// Ackermann's function
static unsigned int ackermann_one(unsigned int m, unsigned int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann_one(m - 1, 1);
    return ackermann_one(m - 1, ackermann_one(m, n - 1));
}
export void KERNEL(ackermann)(uniform const unsigned int m[], uniform const unsigned int n[],
                              uniform unsigned int out[], uniform int members) {
    foreach (k = 0 ... members) out[k] = ackermann_one(m[k], n[k]);
}

// The roots of polynomials by bisection with interval bounds
struct Interval {
    double low, high;
};
static inline Interval times(Interval a, Interval b) {
    double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    Interval product = { min(min(p, q), min(r, s)), max(max(p, q), max(r, s)) };
    return product;
}
static inline Interval plus(Interval a, double b) {
    Interval sum = { a.low + b, a.high + b };
    return sum;
}
static inline double polynomial(double a, double b, double c, double x) {
    return ((x * x - a) * (x * x) + b) * x + c;
}
static inline unsigned int judge(double a, double b, double c, double low, double high) {
    Interval x = { low, high };
    Interval square = times(x, x);
    square.low = max(square.low, 0.0d);
    Interval bounds = times(plus(times(plus(square, -a), square), b), x);
    if (bounds.low + c > 0.0d || bounds.high + c < 0.0d) return 0;
    Interval steep = { 5.0d * square.low - 3.0d * a, 5.0d * square.high - 3.0d * a };
    Interval slope = times(steep, square);
    if (slope.low + b > 0.0d || slope.high + b < 0.0d) {
        bool first = polynomial(a, b, c, low) <= 0.0d, last = polynomial(a, b, c, high) <= 0.0d;
        return first != last ? 1 : 0;
    }
    return 2;
}
static unsigned int bisect(double a, double b, double c, double low, double high, unsigned int depth) {
    unsigned int seen = judge(a, b, c, low, high);
    if (seen < 2) return seen;
    if (depth == 0) return 1;
    double middle = 0.5d * (low + high);
    return bisect(a, b, c, low, middle, depth - 1) + bisect(a, b, c, middle, high, depth - 1);
}
static double leftmost(double a, double b, double c, double low, double high, unsigned int depth) {
    unsigned int seen = judge(a, b, c, low, high);
    if (seen < 2) return seen == 0 ? doublebits(0x7ff0000000000000) : low;
    if (depth == 0) return low;
    double middle = 0.5d * (low + high);
    double found = leftmost(a, b, c, low, middle, depth - 1);
    if (found < doublebits(0x7ff0000000000000)) return found;
    return leftmost(a, b, c, middle, high, depth - 1);
}
export void KERNEL(roots)(uniform const double a[], uniform const double b[], uniform const double c[],
                          uniform unsigned int out[], uniform int n) {
    foreach (k = 0 ... n) out[k] = bisect(a[k], b[k], c[k], -3.0d, 3.0d, 40);
}
export void KERNEL(first_root)(uniform const double a[], uniform const double b[], uniform const double c[],
                               uniform double out[], uniform int n) {
    foreach (k = 0 ... n) out[k] = leftmost(a[k], b[k], c[k], -3.0d, 3.0d, 40);
}
