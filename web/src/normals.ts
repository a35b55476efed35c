// Smooth normals of a mesh that moves, without objects in the loop: 50,000 triangles must leave time for all else.

/** Sums the doubled areas of a mesh's triangles at their corners, and makes them unit vectors. */
export function smooth(points: Float32Array, index: ArrayLike<number>, out: Float32Array): void {
  out.fill(0);
  for (let t = 0; t < index.length; t += 3) {
    const a = 3 * index[t], b = 3 * index[t + 1], c = 3 * index[t + 2];
    const px = points[a], py = points[a + 1], pz = points[a + 2];
    const ux = points[b] - px, uy = points[b + 1] - py, uz = points[b + 2] - pz;
    const vx = points[c] - px, vy = points[c + 1] - py, vz = points[c + 2] - pz;
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    out[a] += nx; out[a + 1] += ny; out[a + 2] += nz;
    out[b] += nx; out[b + 1] += ny; out[b + 2] += nz;
    out[c] += nx; out[c + 1] += ny; out[c + 2] += nz;
  }
  for (let k = 0; k < out.length; k += 3) {
    const size = Math.sqrt(out[k] * out[k] + out[k + 1] * out[k + 1] + out[k + 2] * out[k + 2]);
    const inverse = size > 0 ? 1 / size : 0;
    out[k] *= inverse; out[k + 1] *= inverse; out[k + 2] *= inverse;
  }
}
