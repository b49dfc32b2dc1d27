// The algorithms of the suite of styles in ISPC, each in the style that its users would write: a column for each parameter, one result per
// member. Lists that members have of their own are one list of all their elements, and where each member's begin and how many they are.

#include "names.isph"

#define SIGMA 10.0d
#define RHO 28.0d
#define BETA (8.0d / 3.0d)
#define TOLERANCE 1e-3d

export void KERNEL(lorenz)(uniform const double x0[], uniform const double y0[], uniform const double z0[],
                           uniform double out[], uniform int n) {
    foreach (k = 0 ... n) {
        double x = x0[k], y = y0[k], z = z0[k], t = 0.0d, h = 1e-2d;
        while (t < 0.1d) {
            if (t + h > 0.1d) h = 0.1d - t;
            double ax = SIGMA * (y - x), ay = x * (RHO - z) - y, az = x * y - BETA * z;
            double px = x + h * ax, py = y + h * ay, pz = z + h * az;
            double bx = SIGMA * (py - px), by = px * (RHO - pz) - py, bz = px * py - BETA * pz;
            double ex = 0.5d * h * (bx - ax), ey = 0.5d * h * (by - ay), ez = 0.5d * h * (bz - az);
            double error = ex * ex + ey * ey + ez * ez;
            if (error <= TOLERANCE * TOLERANCE) {
                t += h;
                x += 0.5d * h * (ax + bx);
                y += 0.5d * h * (ay + by);
                z += 0.5d * h * (az + bz);
                if (error < 0.05d * TOLERANCE * TOLERANCE) h *= 1.5d;
            } else {
                h *= 0.5d;
            }
        }
        out[k] = x + y + z;
    }
}

struct Xorshift { unsigned int64 state; };

static inline unsigned int64 bits(Xorshift & rng) {
    rng.state ^= rng.state << 13;
    rng.state ^= rng.state >> 7;
    rng.state ^= rng.state << 17;
    return rng.state;
}

static inline double unit(Xorshift & rng) { return (int64)(bits(rng) >> 11) * (1.0d / 9007199254740992.0d); }

export void KERNEL(random_walk)(uniform const unsigned int64 seeds[], uniform const double widths[],
                                uniform unsigned int out[], uniform int n) {
    foreach (k = 0 ... n) {
        Xorshift rng;
        rng.state = seeds[k];
        double x = 0.0d, width = widths[k];
        unsigned int steps = 400;
        for (uniform unsigned int step = 0; step < 400; step++) {
            x += unit(rng) - 0.5d;
            if (abs(x) > width) {
                steps = step;
                break;
            }
        }
        out[k] = steps;
    }
}

static double normal(Xorshift & rng) {
    while (true) {
        double u = 2.0d * unit(rng) - 1.0d, v = 2.0d * unit(rng) - 1.0d;
        double s = u * u + v * v;
        if (s > 0.0d && s < 1.0d) return u * sqrt(-2.0d * log(s) / s);
    }
    return 0.0d;
}

static double gamma_variate(Xorshift & rng, double shape) {
    double d = shape - 1.0d / 3.0d;
    double c = 1.0d / sqrt(9.0d * d);
    while (true) {
        double x = normal(rng);
        double v = 1.0d + c * x;
        if (v <= 0.0d) continue;
        v = v * v * v;
        double u = unit(rng);
        if (u < 1.0d - 0.0331d * x * x * x * x) return d * v;
        if (log(u) < 0.5d * x * x + d * (1.0d - v + log(v))) return d * v;
    }
    return 0.0d;
}

export void KERNEL(gamma)(uniform const unsigned int64 seeds[], uniform const double shapes[], uniform double out[],
                          uniform int n) {
    foreach (k = 0 ... n) {
        Xorshift rng;
        rng.state = seeds[k];
        double sum = 0.0d, shape = shapes[k];
        for (uniform int i = 0; i < 16; i++) sum += gamma_variate(rng, shape);
        out[k] = sum / 16.0d;
    }
}

static inline float unit32(unsigned int & state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (int)(state >> 8) * (1.0f / 16777216.0f);
}

export void KERNEL(shadows)(uniform const unsigned int seeds[], uniform const float xs[], uniform const float ys[],
                            uniform float out[], uniform int n, uniform const float cx[], uniform const float cy[],
                            uniform const float cz[], uniform const float r[], uniform int spheres) {
    foreach (k = 0 ... n) {
        unsigned int rng = seeds[k];
        float x = xs[k], y = ys[k];
        unsigned int seen = 0;
        for (uniform int sample = 0; sample < 16; sample++) {
            float lx = unit32(rng) * 2.0f - 1.0f - x;
            float ly = unit32(rng) * 2.0f - 1.0f - y;
            float lz = 8.0f;
            bool hidden = false;
            for (uniform int i = 0; i < spheres; i++) {
                float tx = cx[i] - x, ty = cy[i] - y, tz = cz[i];
                float along = tx * lx + ty * ly + tz * lz, length = lx * lx + ly * ly + lz * lz;
                if (along > 0.0f && along < length &&
                    tx * tx + ty * ty + tz * tz - along * along / length < r[i] * r[i]) {
                    hidden = true;
                    break;
                }
            }
            if (!hidden) seen++;
        }
        out[k] = seen / 16.0f;
    }
}

export void KERNEL(noise)(uniform const double xs[], uniform const double ys[], uniform double out[], uniform int n,
                          uniform const unsigned int8 table[]) {
    foreach (k = 0 ... n) {
        double x = xs[k], y = ys[k], sum = 0.0d, size = 1.0d, scale = 1.0d;
        for (uniform int octave = 0; octave < 4; octave++) {
            double px = x * scale, py = y * scale;
            double fx = floor(px), fy = floor(py);
            int ix = (int)fx & 255, iy = (int)fy & 255;
            double tx = px - fx, ty = py - fy;
            int left = table[ix], right = table[(ix + 1) & 255];
            double a = table[(left + iy) & 255], b = table[(right + iy) & 255];
            double c = table[(left + iy + 1) & 255], d = table[(right + iy + 1) & 255];
            double u = tx * tx * (3.0d - 2.0d * tx), v = ty * ty * (3.0d - 2.0d * ty);
            double low = a + (b - a) * u, high = c + (d - c) * u;
            sum += size * (low + (high - low) * v);
            size *= 0.5d;
            scale *= 2.0d;
        }
        out[k] = sum;
    }
}

export void KERNEL(crc)(uniform const unsigned int starts[], uniform const unsigned int lengths[],
                        uniform unsigned int out[], uniform int n, uniform const unsigned int8 bytes[],
                        uniform const unsigned int table[]) {
    foreach (k = 0 ... n) {
        unsigned int rest = 0xffffffff, start = starts[k], length = lengths[k];
        for (unsigned int i = 0; i < length; i++) rest = table[(rest ^ bytes[start + i]) & 255] ^ (rest >> 8);
        out[k] = ~rest;
    }
}

#define LONGEST 64

export void KERNEL(distance)(uniform const unsigned int a_starts[], uniform const unsigned int a_lengths[],
                             uniform const unsigned int b_starts[], uniform const unsigned int b_lengths[],
                             uniform unsigned int out[], uniform int n, uniform const unsigned int8 a[],
                             uniform const unsigned int8 b[]) {
    foreach (k = 0 ... n) {
        unsigned int a_start = a_starts[k], a_length = a_lengths[k], b_start = b_starts[k], b_length = b_lengths[k];
        unsigned int row[LONGEST + 1];
        for (uniform int j = 0; j <= LONGEST; j++) row[j] = j;
        for (unsigned int i = 1; i <= a_length; i++) {
            unsigned int diagonal = row[0];
            row[0] = i;
            unsigned int letter = a[a_start + i - 1];
            cfor (uniform unsigned int j = 1; j <= LONGEST; j++) {
                if (j > b_length) break;
                unsigned int cost = letter == b[b_start + j - 1] ? 0 : 1;
                unsigned int next = min(min(row[j] + 1, row[j - 1] + 1), diagonal + cost);
                diagonal = row[j];
                row[j] = next;
            }
        }
        out[k] = row[b_length];
    }
}

export void KERNEL(alignment)(uniform const unsigned int a_starts[], uniform const unsigned int a_lengths[],
                              uniform const unsigned int b_starts[], uniform const unsigned int b_lengths[],
                              uniform int out[], uniform int n, uniform const unsigned int8 a[],
                              uniform const unsigned int8 b[]) {
    foreach (k = 0 ... n) {
        unsigned int a_start = a_starts[k], a_length = a_lengths[k], b_start = b_starts[k], b_length = b_lengths[k];
        int scores[LONGEST + 1], gaps[LONGEST + 1];
        for (uniform int j = 0; j <= LONGEST; j++) {
            scores[j] = 0;
            gaps[j] = 0;
        }
        int best = 0;
        for (unsigned int i = 0; i < a_length; i++) {
            int diagonal = 0, gap = 0;
            unsigned int letter = a[a_start + i];
            cfor (uniform unsigned int j = 0; j < LONGEST; j++) {
                if (j >= b_length) break;
                int met = diagonal + (letter == b[b_start + j] ? 5 : -3);
                gaps[j + 1] = max(gaps[j + 1] - 1, scores[j + 1] - 4);
                gap = max(gap - 1, scores[j] - 4);
                diagonal = scores[j + 1];
                int score = max(max(met, gaps[j + 1]), max(gap, 0));
                scores[j + 1] = score;
                best = max(best, score);
            }
        }
        out[k] = best;
    }
}

#define LENGTH 32

// One member's numbers stand together.
static inline void load(uniform const float numbers[], int k, varying float a[]) {
    for (uniform int i = 0; i < LENGTH; i++) a[i] = numbers[k * LENGTH + i];
}

static inline float digest(const varying float a[]) {
    float sum = 0.0f;
    for (uniform int i = 0; i < LENGTH; i++) sum += a[i] * i;
    return sum;
}

export void KERNEL(insertion)(uniform const float numbers[], uniform float out[], uniform int n) {
    foreach (k = 0 ... n) {
        float a[LENGTH];
        load(numbers, k, a);
        for (uniform int i = 1; i < LENGTH; i++) {
            float x = a[i];
            int j = i;
            while (j > 0 && a[j - 1] > x) {
                a[j] = a[j - 1];
                j--;
            }
            a[j] = x;
        }
        out[k] = digest(a);
    }
}

export void KERNEL(merging)(uniform const float numbers[], uniform float out[], uniform int n) {
    foreach (k = 0 ... n) {
        float a[LENGTH];
        load(numbers, k, a);
        for (uniform int width = 1; width < LENGTH; width *= 2) {
            float b[LENGTH];
            for (uniform int start = 0; start < LENGTH; start += 2 * width) {
                uniform int middle = start + width, end = start + 2 * width;
                int i = start, j = middle;
                for (uniform int place = start; place < end; place++) {
                    if (i < middle && (j >= end || a[i] <= a[j])) {
                        b[place] = a[i];
                        i++;
                    } else {
                        b[place] = a[j];
                        j++;
                    }
                }
            }
            for (uniform int i = 0; i < LENGTH; i++) a[i] = b[i];
        }
        out[k] = digest(a);
    }
}

export void KERNEL(exchanging)(uniform const float numbers[], uniform float out[], uniform int n) {
    foreach (k = 0 ... n) {
        float a[LENGTH];
        load(numbers, k, a);
        for (uniform int round = 0; round < LENGTH; round++) {
            for (uniform int i = round % 2; i + 1 < LENGTH; i += 2) {
                if (a[i] > a[i + 1]) {
                    float x = a[i];
                    a[i] = a[i + 1];
                    a[i + 1] = x;
                }
            }
        }
        out[k] = digest(a);
    }
}

#define STATES 6

export void KERNEL(viterbi)(uniform const unsigned int starts[], uniform const unsigned int lengths[],
                            uniform float out[], uniform int n, uniform const unsigned int8 seen[],
                            uniform const float start[], uniform const float change[], uniform const float emit[]) {
    foreach (k = 0 ... n) {
        unsigned int first = starts[k], length = lengths[k];
        float best[STATES];
        int symbol = seen[first];
        for (uniform int s = 0; s < STATES; s++) best[s] = start[s] + emit[symbol * STATES + s];
        for (unsigned int t = 1; t < length; t++) {
            float next[STATES];
            symbol = seen[first + t];
            for (uniform int s = 0; s < STATES; s++) {
                float most = best[0] + change[s];
                for (uniform int p = 1; p < STATES; p++) most = max(most, best[p] + change[p * STATES + s]);
                next[s] = most + emit[symbol * STATES + s];
            }
            for (uniform int s = 0; s < STATES; s++) best[s] = next[s];
        }
        float most = best[0];
        for (uniform int s = 1; s < STATES; s++) most = max(most, best[s]);
        out[k] = most;
    }
}

#define TREES 20
#define FEATURES 4

export void KERNEL(forest)(uniform const double features[], uniform double out[], uniform int n,
                           uniform const unsigned int64 roots[], uniform const unsigned int feature[],
                           uniform const double threshold[], uniform const unsigned int left[],
                           uniform const unsigned int right[], uniform const double value[]) {
    foreach (k = 0 ... n) {
        double x[FEATURES];
        for (uniform int i = 0; i < FEATURES; i++) x[i] = features[k * FEATURES + i];
        double sum = 0.0d;
        for (uniform int tree = 0; tree < TREES; tree++) {
            unsigned int at = (unsigned int)roots[tree];
            while (left[at] != at) at = x[feature[at]] < threshold[at] ? left[at] : right[at];
            sum += value[at];
        }
        out[k] = sum / TREES;
    }
}

struct Node {
    double x;
    double y;
    unsigned int32 below;
    unsigned int32 above;
    unsigned int8 axis;
};

#define NOWHERE 0xffffffff

static double nearest_one(uniform const Node tree[], unsigned int at, double x, double y, double best) {
    if (at == NOWHERE) return best;
    double dx = x - tree[at].x, dy = y - tree[at].y;
    double here = dx * dx + dy * dy;
    best = min(best, here);
    double side = tree[at].axis == 0 ? dx : dy;
    unsigned int near = side < 0.0d ? tree[at].below : tree[at].above;
    unsigned int far = side < 0.0d ? tree[at].above : tree[at].below;
    best = nearest_one(tree, near, x, y, best);
    if (side * side < best) best = nearest_one(tree, far, x, y, best);
    return best;
}

export void KERNEL(nearest)(uniform const double xs[], uniform const double ys[], uniform double out[], uniform int n,
                            uniform const Node tree[], uniform unsigned int root) {
    foreach (k = 0 ... n) out[k] = nearest_one(tree, root, xs[k], ys[k], 1.7976931348623157e308d);
}
