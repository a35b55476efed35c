// Shapes of the engine as three.js geometry.

import * as THREE from 'three';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';
import type { Place, Shape, Triple } from './protocol';

/** Size of the square that stands for a half-space [m]. */
const GROUND = 200;

/** Meshes of a shape, placed in the body. */
export function build(shape: Shape, material: THREE.Material, place?: Place): THREE.Object3D {
  const object = bare(shape, material);
  if (place) {
    const outer = new THREE.Group();
    outer.position.fromArray(place.position);
    outer.quaternion.fromArray(place.rotation);
    outer.add(object);
    return outer;
  }
  return object;
}

function bare(shape: Shape, material: THREE.Material): THREE.Object3D {
  switch (shape.type) {
    case 'ball':
      return new THREE.Mesh(new THREE.SphereGeometry(shape.radius, 32, 20), material);
    case 'box':
      return new THREE.Mesh(new THREE.BoxGeometry(...(shape.half.map((h) => 2 * h) as Triple)), material);
    case 'capsule':
      return new THREE.Mesh(new THREE.CapsuleGeometry(shape.radius, 2 * shape.half, 8, 24), material);
    case 'cylinder':
      return new THREE.Mesh(new THREE.CylinderGeometry(shape.radius, shape.radius, 2 * shape.half, 32), material);
    case 'cone':
      return new THREE.Mesh(new THREE.ConeGeometry(shape.radius, 2 * shape.half, 32), material);
    case 'plane':
      return ground(shape.normal);
    case 'hull':
      return new THREE.Mesh(new ConvexGeometry(shape.points.map((p) => new THREE.Vector3(...p))), material);
    case 'mesh':
      return new THREE.Mesh(triangles(shape.points.flat(), shape.triangles), material);
    case 'heights':
      return new THREE.Mesh(heights(shape), material);
    case 'compound': {
      const group = new THREE.Group();
      for (const part of shape.parts) group.add(build(part.shape, material, part.place));
      return group;
    }
    case 'other':
      return new THREE.Group();
  }
}

function ground(normal: Triple): THREE.Object3D {
  const floor = new THREE.Mesh(
    new THREE.PlaneGeometry(GROUND, GROUND),
    new THREE.MeshStandardMaterial({ color: 0xd3d9dc, roughness: 0.95 }),
  );
  floor.rotation.x = -Math.PI / 2;
  const group = new THREE.Group();
  group.add(floor);
  group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...normal).normalize());
  return group;
}

export function triangles(points: ArrayLike<number>, list: Triple[]): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(Array.from(points), 3));
  geometry.setIndex(list.flat());
  geometry.computeVertexNormals();
  return geometry;
}

function heights(shape: { heights: number[]; rows: number; scale: Triple }): THREE.BufferGeometry {
  const columns = Math.floor(shape.heights.length / shape.rows);
  const [sx, sy, sz] = shape.scale;
  const points: number[] = [];
  const list: Triple[] = [];
  for (let r = 0; r < shape.rows; r++) {
    for (let c = 0; c < columns; c++) {
      points.push((c / (columns - 1) - 0.5) * sx, shape.heights[r * columns + c] * sy, (r / (shape.rows - 1) - 0.5) * sz);
      if (r > 0 && c > 0) {
        const at = r * columns + c;
        list.push([at - columns - 1, at - 1, at - columns], [at - 1, at, at - columns]);
      }
    }
  }
  return triangles(points, list);
}
