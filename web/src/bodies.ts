// Bodies as three.js objects, moved by frames.

import * as THREE from 'three';
import { smooth } from './normals';
import { type Body, type Frame, type Points, RIGID, type Scene, unpack } from './protocol';
import { build } from './shapes';

const COLOURS = [0xc9553b, 0xd1495b, 0x7a4f35, 0x3d87b8, 0xe3b23c, 0x6a9c5b, 0x9b6fb0, 0x4fa39b];
const FIXED = 0xaab3b8;
/** Sides of a rope's tube. */
const SIDES = 8;

export const colourOf = (body: Body): number => (body.motion === 'dynamic' ? COLOURS[body.slot % COLOURS.length] : FIXED);

/** A body on the stage. */
export interface Actor {
  body: Body;
  object: THREE.Object3D;
  /** Surface points of bodies of nodes [m]. */
  points: Float32Array;
  /** Called after its points have changed. */
  moved?: () => void;
  /** Orientations of its particles, four 16-bit parts each. */
  turn?: (parts: Int16Array) => void;
  /** Colours of its surface points, when they are painted. */
  paint?: (colours: Float32Array | undefined) => void;
}

export class Bodies {
  readonly group = new THREE.Group();
  actors = new Map<number, Actor>();
  wireframe = false;
  visible = true;

  show(scene: Scene): void {
    this.group.traverse((part) => (part as THREE.Mesh).geometry?.dispose());
    this.group.clear();
    this.actors = new Map();
    for (const body of scene.bodies) {
      const actor = make(body);
      actor.object.traverse((part) => {
        part.userData.slot = body.slot;
        part.castShadow = part.receiveShadow = part instanceof THREE.Mesh;
        if (body.motion === 'fixed' && body.shapes.some((s) => s.shape.type === 'plane')) part.castShadow = false;
        part.frustumCulled = body.kind === 'rigid';
      });
      this.group.add(actor.object);
      this.actors.set(body.slot, actor);
    }
    this.setWireframe(this.wireframe);
  }

  move(frame: Frame): void {
    for (let at = 0; at + RIGID <= frame.rigid.length; at += RIGID) {
      const object = this.actors.get(frame.rigidWords[at])?.object;
      object?.position.fromArray(frame.rigid, at + 1);
      object?.quaternion.fromArray(frame.rigid, at + 4);
    }
    // before the places: these redraw
    for (const { slot, parts } of frame.turns) this.actors.get(slot)?.turn?.(parts);
    for (const points of frame.points) this.place(points);
  }

  private place(points: Points): void {
    const actor = this.actors.get(points.slot);
    if (!actor || actor.points.length !== 3 * points.count) return;
    unpack(points, actor.points);
    actor.moved?.();
  }

  /** The box of all that moves, with the ground below it. */
  box(): THREE.Box3 {
    const box = new THREE.Box3();
    for (const { body, object, points } of this.actors.values()) {
      if (body.motion !== 'dynamic') continue;
      if (body.kind === 'rigid') box.expandByObject(object, true);
      else box.union(new THREE.Box3().setFromArray(points));
    }
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, 0, -1), new THREE.Vector3(1, 1, 1));
    const ground = box.min.clone().setY(Math.min(box.min.y, Math.max(0, box.min.y - box.getSize(new THREE.Vector3()).length())));
    return box.expandByPoint(ground);
  }

  /** Mean place of the bodies that forces move; nothing when there are none. */
  centre(to: THREE.Vector3): THREE.Vector3 | undefined {
    const at = new THREE.Vector3();
    let count = 0;
    to.set(0, 0, 0);
    for (const { body, object, points } of this.actors.values()) {
      if (body.motion !== 'dynamic') continue;
      if (body.kind === 'rigid') at.copy(object.position);
      else if (points.length > 0) at.fromArray(points, 3 * Math.floor(points.length / 6));
      to.add(at);
      count++;
    }
    return count > 0 ? to.multiplyScalar(1 / count) : undefined;
  }

  setWireframe(on: boolean): void {
    this.wireframe = on;
    this.group.traverse((part) => {
      if (part instanceof THREE.Mesh && part.material instanceof THREE.MeshStandardMaterial) part.material.wireframe = on;
    });
  }

  /** Greys rigid bodies, so that colours that mean something stand alone. */
  setDull(on: boolean): void {
    for (const { body, object } of this.actors.values()) {
      if (body.kind !== 'rigid' || body.motion !== 'dynamic') continue;
      object.traverse((part) => {
        if (part instanceof THREE.Mesh && part.material instanceof THREE.MeshStandardMaterial)
          part.material.color.set(on ? 0xc9cdd0 : colourOf(body));
      });
    }
  }

  /** Lets the surfaces be seen through, for what is inside. */
  setGhost(on: boolean): void {
    for (const { body, object } of this.actors.values()) {
      if (body.motion !== 'dynamic') continue;
      object.traverse((part) => {
        if (!(part instanceof THREE.Mesh) || !(part.material instanceof THREE.MeshStandardMaterial)) return;
        part.material.transparent = on;
        part.material.opacity = on ? 0.3 : 1;
        part.material.depthWrite = !on;
        part.material.needsUpdate = true;
      });
    }
  }
}

function material(body: Body): THREE.MeshStandardMaterial {
  const soft = body.kind !== 'rigid';
  return new THREE.MeshStandardMaterial({
    color: colourOf(body),
    roughness: soft ? 0.38 : 0.6,
    side: soft ? THREE.DoubleSide : THREE.FrontSide,
  });
}

function make(body: Body): Actor {
  if (body.kind === 'rigid') {
    const group = new THREE.Group();
    const paint = material(body);
    for (const part of body.shapes) group.add(build(part.shape, paint, part.place));
    return { body, object: group, points: new Float32Array(0) };
  }
  if (body.triangles.length > 0) return surface(body);
  if (body.radii.length === 3 * body.surfels) return ellipsoids(body);
  return body.form === 'rope' ? rope(body) : balls(body);
}

function surface(body: Body): Actor {
  const points = new Float32Array(3 * body.surfels);
  const geometry = new THREE.BufferGeometry();
  const index = body.surfels < 65536 ? new Uint16Array(body.triangles) : new Uint32Array(body.triangles);
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  const places = dynamic(points);
  const normals = dynamic(new Float32Array(points.length));
  geometry.setAttribute('position', places);
  geometry.setAttribute('normal', normals);
  const paint = material(body);
  const plain = paint.color.clone();
  const moved = () => {
    smooth(points, index, normals.array as Float32Array);
    places.needsUpdate = normals.needsUpdate = true;
    geometry.boundingSphere = geometry.boundingBox = null;
  };
  return { body, object: new THREE.Mesh(geometry, paint), points, moved, paint: painter(geometry, paint, plain) };
}

function painter(geometry: THREE.BufferGeometry, paint: THREE.MeshStandardMaterial, plain: THREE.Color) {
  return (colours: Float32Array | undefined): void => {
    const on = colours !== undefined;
    if (colours) {
      const old = geometry.getAttribute('color') as THREE.BufferAttribute | undefined;
      if (old) old.needsUpdate = true;
      else geometry.setAttribute('color', dynamic(colours));
    }
    if (paint.vertexColors === on) return;
    paint.vertexColors = on;
    paint.color.copy(on ? new THREE.Color(0xffffff) : plain);
    paint.needsUpdate = true;
  };
}

function dynamic(array: Float32Array): THREE.BufferAttribute {
  const attribute = new THREE.BufferAttribute(array, 3);
  attribute.setUsage(THREE.DynamicDrawUsage);
  return attribute;
}

/** A tube around the points in order; its ring is carried along so that it does not twist. */
function rope(body: Body): Actor {
  const count = body.surfels;
  const points = new Float32Array(3 * count);
  const places = dynamic(new Float32Array(3 * SIDES * count));
  const normals = dynamic(new Float32Array(3 * SIDES * count));
  const index: number[] = [];
  for (let i = 0; i + 1 < count; i++) {
    for (let k = 0; k < SIDES; k++) {
      const [a, b] = [i * SIDES + k, i * SIDES + ((k + 1) % SIDES)];
      index.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setIndex(index);
  geometry.setAttribute('position', places);
  geometry.setAttribute('normal', normals);
  const [at, along, side, up] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3(1, 0, 0), new THREE.Vector3()];
  const moved = () => {
    const radius = Math.max(body.radius, 0.004);
    side.set(0.577, 0.577, 0.577);
    for (let i = 0; i < count; i++) {
      const [before, after] = [Math.max(i - 1, 0), Math.min(i + 1, count - 1)];
      along.fromArray(points, 3 * after).sub(at.fromArray(points, 3 * before)).normalize();
      side.addScaledVector(along, -side.dot(along)).normalize();
      up.crossVectors(along, side);
      at.fromArray(points, 3 * i);
      for (let k = 0; k < SIDES; k++) {
        const [c, s] = [Math.cos((2 * Math.PI * k) / SIDES), Math.sin((2 * Math.PI * k) / SIDES)];
        const [nx, ny, nz] = [c * side.x + s * up.x, c * side.y + s * up.y, c * side.z + s * up.z];
        normals.setXYZ(i * SIDES + k, nx, ny, nz);
        places.setXYZ(i * SIDES + k, at.x + radius * nx, at.y + radius * ny, at.z + radius * nz);
      }
    }
    places.needsUpdate = normals.needsUpdate = true;
    geometry.boundingSphere = geometry.boundingBox = null;
  };
  return { body, object: new THREE.Mesh(geometry, material(body)), points, moved };
}

/** A ball for every point. */
function balls(body: Body): Actor {
  const points = new Float32Array(3 * body.surfels);
  const ball = new THREE.SphereGeometry(Math.max(body.radius, 0.005), 14, 10);
  const object = new THREE.InstancedMesh(ball, material(body), body.surfels);
  const place = new THREE.Matrix4();
  const moved = () => {
    for (let k = 0; k < body.surfels; k++) object.setMatrixAt(k, place.setPosition(points[3 * k], points[3 * k + 1], points[3 * k + 2]));
    object.instanceMatrix.needsUpdate = true;
    object.boundingSphere = null;
  };
  return { body, object, points, moved };
}

/** An ellipsoid for every oriented particle. */
function ellipsoids(body: Body): Actor {
  const count = body.surfels;
  const points = new Float32Array(3 * count);
  const turns = new Float32Array(4 * count).map((_, k) => (k % 4 === 3 ? 1 : 0));
  const object = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 20, 14), material(body), count);
  const [place, at, turn, radii] = [new THREE.Matrix4(), new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
  const moved = () => {
    for (let k = 0; k < count; k++) {
      turn.fromArray(turns, 4 * k).normalize();
      place.compose(at.fromArray(points, 3 * k), turn, radii.fromArray(body.radii, 3 * k));
      object.setMatrixAt(k, place);
    }
    object.instanceMatrix.needsUpdate = true;
    object.boundingSphere = null;
  };
  return { body, object, points, moved, turn: (parts) => turns.set(parts.subarray(0, turns.length)) };
}
