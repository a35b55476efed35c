// Overlays: what is drawn over the bodies. Each has a switch, and most need a layer of the frame.

import * as THREE from 'three';
import type { Bodies } from './bodies';
import { type Frame, type Layer, RIGID, type Scene, type Shares, unpack } from './protocol';

export type Name =
  | 'wireframe' | 'tetrahedra' | 'contacts' | 'constraints' | 'strain' | 'surfels' | 'phyxels' | 'velocities' | 'pressure';

/** Names with what people read, the key, and the layer. */
export const OVERLAYS: { name: Name; label: string; key: string; layer?: Layer }[] = [
  { name: 'wireframe', label: 'Wireframe', key: '1' },
  { name: 'tetrahedra', label: 'Tetrahedra', key: '2', layer: 'nodes' },
  { name: 'contacts', label: 'Contact forces', key: '3', layer: 'contacts' },
  { name: 'constraints', label: 'Constraint forces', key: '4', layer: 'constraints' },
  { name: 'strain', label: 'Strain as colour', key: '5', layer: 'strain' },
  { name: 'surfels', label: 'Surfels', key: '6' },
  { name: 'phyxels', label: 'Phyxels', key: '7', layer: 'nodes' },
  { name: 'velocities', label: 'Velocities', key: '8', layer: 'velocities' },
  { name: 'pressure', label: 'Pressure as colour', key: '9', layer: 'pressure' },
];

/** Velocities are drawn as the way of this time [s]. */
const FLIGHT = 0.1;
/** Most arrows for points of soft bodies. */
const ARROWS = 3000;

/** Lines with a growing buffer. */
class Lines {
  readonly object: THREE.LineSegments;
  private array = new Float32Array(0);
  count = 0;

  constructor(colour: number, onTop = true) {
    const material = new THREE.LineBasicMaterial({ color: colour, depthTest: !onTop, transparent: true });
    this.object = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = onTop ? 2 : 1;
  }

  /** Room for so many segments. */
  begin(segments: number): Float32Array {
    if (this.array.length < 6 * segments) {
      this.array = new Float32Array(6 * Math.ceil(1.5 * segments));
      this.object.geometry.dispose();
      this.object.geometry = new THREE.BufferGeometry();
      const attribute = new THREE.BufferAttribute(this.array, 3);
      attribute.setUsage(THREE.DynamicDrawUsage);
      this.object.geometry.setAttribute('position', attribute);
    }
    return this.array;
  }

  end(segments: number): void {
    this.count = segments;
    this.object.geometry.setDrawRange(0, 2 * segments);
    const attribute = this.object.geometry.getAttribute('position');
    if (attribute) (attribute as THREE.BufferAttribute).needsUpdate = true;
  }
}

/** Dots of a fixed size on the screen. */
class Dots {
  readonly object: THREE.Points;
  private array = new Float32Array(0);

  constructor(colour: number, size: number) {
    const material = new THREE.PointsMaterial({ color: colour, size, sizeAttenuation: false, depthTest: false, transparent: true });
    this.object = new THREE.Points(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
  }

  begin(points: number): Float32Array {
    if (this.array.length < 3 * points) {
      this.array = new Float32Array(3 * points);
      this.object.geometry.dispose();
      this.object.geometry = new THREE.BufferGeometry();
      this.object.geometry.setAttribute('position', new THREE.BufferAttribute(this.array, 3));
    }
    return this.array;
  }

  end(points: number): void {
    this.object.geometry.setDrawRange(0, points);
    const attribute = this.object.geometry.getAttribute('position');
    if (attribute) (attribute as THREE.BufferAttribute).needsUpdate = true;
  }
}

export class Overlays {
  readonly group = new THREE.Group();
  readonly on = new Set<Name>();
  /** Largest strain or pressure [Pa] of the last frame, for the legend. */
  largest = 0;
  private readonly links = new Lines(0x505a60, false);
  private readonly tets = new Lines(0x22576b, false);
  private readonly contacts = new Lines(0xc81d25);
  private readonly contactDots = new Dots(0xc81d25, 5);
  private readonly forces = new Lines(0x7b2cbf);
  private readonly flights = new Lines(0x0b7285);
  private readonly surfels = new Dots(0x1b4965, 3);
  private readonly phyxels = new Dots(0xb5179e, 4);
  private edges = new Map<number, Uint32Array>();
  private colours = new Map<number, Float32Array>();
  /** Length of the arrow of 1 N [m], so that the weight of the scene is a tenth of it. */
  private perNewton = 0.01;
  private size = 1;

  constructor(private readonly bodies: Bodies) {
    for (const part of [this.links, this.tets, this.contacts, this.contactDots, this.forces, this.flights, this.surfels, this.phyxels])
      this.group.add(part.object);
  }

  show(scene: Scene): void {
    this.edges = new Map(scene.bodies.filter((b) => b.tets.length > 0).map((b) => [b.slot, edges(b.tets)]));
    this.colours = new Map();
    this.perNewton = 0;
    this.apply();
  }

  /** The size of the scene, for arrows. */
  scale(size: number): void {
    this.size = size;
  }

  toggle(name: Name, on = !this.on.has(name)): void {
    // one colour at a time
    if (on && name === 'strain') this.on.delete('pressure');
    if (on && name === 'pressure') this.on.delete('strain');
    if (on) this.on.add(name);
    else this.on.delete(name);
    this.apply();
  }

  layers(): Layer[] {
    return OVERLAYS.flatMap((o) => (o.layer && this.on.has(o.name) ? [o.layer] : []));
  }

  private apply(): void {
    const { on } = this;
    this.bodies.setWireframe(on.has('wireframe'));
    this.bodies.setGhost(on.has('tetrahedra') || on.has('phyxels'));
    this.tets.object.visible = on.has('tetrahedra');
    this.contacts.object.visible = this.contactDots.object.visible = on.has('contacts');
    this.forces.object.visible = on.has('constraints');
    this.flights.object.visible = on.has('velocities');
    this.surfels.object.visible = on.has('surfels');
    this.phyxels.object.visible = on.has('phyxels');
    this.bodies.setDull(on.has('strain') || on.has('pressure'));
    if (!on.has('strain') && !on.has('pressure')) for (const actor of this.bodies.actors.values()) actor.paint?.(undefined);
  }

  move(frame: Frame): void {
    this.links.begin(frame.links.length / 6).set(frame.links);
    this.links.end(frame.links.length / 6);
    if (this.on.has('tetrahedra') || this.on.has('phyxels')) this.inside(frame);
    if (this.on.has('contacts')) this.touch(frame.contacts);
    if (this.on.has('constraints')) this.arrows(this.forces, frame.constraints, 7);
    if (this.on.has('velocities')) this.fly(frame);
    if (this.on.has('surfels')) this.dot();
    if (this.on.has('strain')) this.colour(frame.strain, 1e-3);
    if (this.on.has('pressure')) this.colour(this.everywhere(frame.pressure), 1);
  }

  private inside(frame: Frame): void {
    let [dots, lines] = [0, 0];
    for (const points of frame.nodes) {
      dots += points.count;
      lines += (this.edges.get(points.slot)?.length ?? 0) / 2;
    }
    const [places, segments] = [this.phyxels.begin(dots), this.tets.begin(lines)];
    let [at, to] = [0, 0];
    for (const points of frame.nodes) {
      const part = places.subarray(at, at + 3 * points.count);
      unpack(points, part);
      at += part.length;
      for (const node of this.edges.get(points.slot) ?? []) {
        segments[to++] = part[3 * node];
        segments[to++] = part[3 * node + 1];
        segments[to++] = part[3 * node + 2];
      }
    }
    this.phyxels.end(dots);
    this.tets.end(lines);
  }

  private touch(contacts: Float32Array): void {
    this.arrows(this.contacts, contacts, 6);
    const count = contacts.length / 6;
    const dots = this.contactDots.begin(count);
    for (let k = 0; k < count; k++) dots.set(contacts.subarray(6 * k, 6 * k + 3), 3 * k);
    this.contactDots.end(count);
  }

  /** An arrow for each force; the largest is a fifth of the scene, and the scale follows slowly. */
  private arrows(lines: Lines, list: Float32Array, stride: number): void {
    let largest = 0;
    for (let k = 0; k + stride <= list.length; k += stride)
      largest = Math.max(largest, Math.hypot(list[k + 3], list[k + 4], list[k + 5]));
    if (largest > 0) {
      const wanted = (0.2 * this.size) / largest;
      this.perNewton = this.perNewton === 0 ? wanted : this.perNewton + 0.1 * (Math.min(wanted, 4 * this.perNewton) - this.perNewton);
    }
    const array = lines.begin((3 * list.length) / stride);
    let at = 0;
    for (let k = 0; k + stride <= list.length; k += stride) at = arrow(array, at, list, k, this.perNewton);
    lines.end(at / 6);
  }

  private fly(frame: Frame): void {
    const points = frame.velocities.reduce((sum, p) => sum + p.count, 0);
    const every = Math.max(1, Math.ceil(points / ARROWS));
    const array = this.flights.begin(3 * (frame.rigid.length / RIGID + points));
    const one = new Float32Array(6);
    let at = 0;
    for (let k = 0; k + RIGID <= frame.rigid.length; k += RIGID) {
      one.set(frame.rigid.subarray(k + 1, k + 4));
      one.set(frame.rigid.subarray(k + 8, k + 11), 3);
      at = arrow(array, at, one, 0, FLIGHT);
    }
    for (const velocities of frame.velocities) {
      const places = this.bodies.actors.get(velocities.slot)?.points;
      if (!places || places.length !== 3 * velocities.count) continue;
      const v = new Float32Array(3 * velocities.count);
      unpack(velocities, v);
      for (let k = 0; k < velocities.count; k += every) {
        one.set(places.subarray(3 * k, 3 * k + 3));
        one.set(v.subarray(3 * k, 3 * k + 3), 3);
        at = arrow(array, at, one, 0, FLIGHT);
      }
    }
    this.flights.end(at / 6);
  }

  private dot(): void {
    let count = 0;
    for (const actor of this.bodies.actors.values()) count += actor.points.length / 3;
    const array = this.surfels.begin(count);
    let at = 0;
    for (const actor of this.bodies.actors.values()) {
      array.set(actor.points, at);
      at += actor.points.length;
    }
    this.surfels.end(count);
  }

  /** Soft bodies that press on nothing have no pressure anywhere. */
  private everywhere(pressure: Shares[]): Shares[] {
    const all = [...pressure];
    for (const [slot, { points }] of this.bodies.actors)
      if (points.length > 0 && !pressure.some((p) => p.slot === slot)) all.push({ slot, largest: 0, shares: new Uint8Array(points.length / 3) });
    return all;
  }

  /** Paints surfaces; colours of all bodies have one scale, whose end is at least `least`. */
  private colour(list: Shares[], least: number): void {
    this.largest = Math.max(least, ...list.map((s) => s.largest));
    for (const { slot, largest, shares } of list) {
      const actor = this.bodies.actors.get(slot);
      if (!actor?.paint || actor.points.length !== 3 * shares.length) continue;
      let colours = this.colours.get(slot);
      if (!colours) this.colours.set(slot, (colours = new Float32Array(3 * shares.length)));
      const scale = largest / this.largest;
      for (let k = 0; k < shares.length; k++) ramp((shares[k] / 255) * scale, colours, 3 * k);
      actor.paint(colours);
    }
  }
}

/** Shaft and two barbs; returns where the next one begins. */
function arrow(to: Float32Array, at: number, from: Float32Array, k: number, scale: number): number {
  const x = from[k], y = from[k + 1], z = from[k + 2];
  const fx = from[k + 3] * scale, fy = from[k + 4] * scale, fz = from[k + 5] * scale;
  // across: the shaft crossed with the axis it is least along
  const flat = Math.abs(fy) < 0.9 * Math.hypot(fx, fy, fz);
  let ax = flat ? -fz : 0, ay = flat ? 0 : fz, az = flat ? fx : -fy;
  const size = Math.hypot(fx, fy, fz) / Math.max(Math.hypot(ax, ay, az), 1e-12);
  ax *= 0.12 * size; ay *= 0.12 * size; az *= 0.12 * size;
  const tip = [x + fx, y + fy, z + fz];
  const neck = [x + 0.75 * fx, y + 0.75 * fy, z + 0.75 * fz];
  to.set([x, y, z, ...tip, ...tip, neck[0] + ax, neck[1] + ay, neck[2] + az, ...tip, neck[0] - ax, neck[1] - ay, neck[2] - az], at);
  return at + 18;
}

/** Blue, green, yellow, red, in linear light. */
const RAMP = [0x2c4fa3, 0x2a9d8f, 0x8ab17d, 0xe9c46a, 0xd62828].map((c) => new THREE.Color(c));

function ramp(share: number, to: Float32Array, at: number): void {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  const t = place - low;
  const [a, b] = [RAMP[low], RAMP[low + 1]];
  to[at] = a.r + t * (b.r - a.r);
  to[at + 1] = a.g + t * (b.g - a.g);
  to[at + 2] = a.b + t * (b.b - a.b);
}

/** Every edge of tetrahedra once. */
function edges(tets: number[]): Uint32Array {
  const seen = new Set<number>();
  const out: number[] = [];
  const pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
  for (let t = 0; t < tets.length; t += 4) {
    for (const [i, j] of pairs) {
      const [a, b] = [Math.min(tets[t + i], tets[t + j]), Math.max(tets[t + i], tets[t + j])];
      const key = a * 67108864 + b;
      if (seen.has(key)) continue;
      seen.add(key);
      out.push(a, b);
    }
  }
  return new Uint32Array(out);
}
