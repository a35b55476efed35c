// What the server says and what it is told; docs/protocol.md has every field.

export type Triple = [number, number, number];

export interface Place {
  position: Triple;
  rotation: [number, number, number, number];
}

export type Shape =
  | { type: 'ball'; radius: number }
  | { type: 'box'; half: Triple }
  | { type: 'capsule' | 'cylinder' | 'cone'; half: number; radius: number }
  | { type: 'plane'; normal: Triple }
  | { type: 'hull'; points: Triple[] }
  | { type: 'compound'; parts: { place: Place; shape: Shape }[] }
  | { type: 'mesh'; points: Triple[]; triangles: Triple[] }
  | { type: 'heights'; heights: number[]; rows: number; scale: Triple }
  | { type: 'other' };

export interface Body {
  slot: number;
  name: string;
  kind: 'rigid' | 'soft' | 'particles';
  motion: 'dynamic' | 'kinematic' | 'fixed';
  model: string;
  form: 'tets' | 'sheet' | 'rope' | 'points';
  radius: number;
  shapes: { place: Place; shape: Shape }[];
  /** Three surface points each. */
  triangles: number[];
  surfels: number;
  /** Semi-axes of oriented particles that are drawn as ellipsoids, three each. */
  radii: number[];
  nodes: number;
  /** Four nodes each. */
  tets: number[];
}

export interface Knob {
  name: string;
  label: string;
  /** A sentence, or nothing. */
  about: string;
  unit: string;
  low: number;
  high: number;
  whole: boolean;
  logarithmic: boolean;
}

export interface Scene {
  kind: 'scene';
  protocol: number;
  revision: number;
  name: string;
  about: string;
  dt: number;
  phases: string[];
  layers: string[];
  camera: { eye: Triple; target: Triple } | null;
  knobs: Knob[];
  bodies: Body[];
  scenes: { name: string; about: string; thumb: boolean }[];
}

export interface Status {
  kind: 'status';
  paused: boolean;
  speed: number;
  knobs: Record<string, number>;
  message: string;
}

export type Said = Scene | Status | { kind: 'you'; viewer: number } | { kind: 'refused'; why: string };

export type Layer = 'nodes' | 'contacts' | 'constraints' | 'strain' | 'velocities' | 'residuals' | 'energies' | 'pressure';

export type Order =
  | { command: 'pause'; on: boolean }
  | { command: 'step' | 'reset' | 'release' }
  | { command: 'speed'; value: number }
  | { command: 'scene'; name: string }
  | { command: 'grab'; slot: number; at: Triple }
  | { command: 'drag'; to: Triple }
  | { command: 'tune'; knob: string; value: number }
  | { command: 'layers'; on: Layer[] };

/** Points of a body: 16-bit steps of a box. */
export interface Points {
  slot: number;
  count: number;
  /** Least corner, then step. */
  box: Float32Array;
  steps: Uint16Array;
}

export interface Run {
  time: number;
  realTimeFactor: number;
  stepMs: number;
  budgetMs: number;
  phases: Float32Array;
  kinetic: number;
  gravity: number;
  /** NaN when nobody wants it. */
  elastic: number;
  penetration: number;
  awake: number;
  asleep: number;
  islands: number;
  contacts: number;
  contactRows: number;
  constraintRows: number;
  sweeps: number;
  iterations: number;
  substeps: number;
  viewers: number;
}

export interface Held {
  viewer: number;
  /** Point, target, force. */
  numbers: Float32Array;
}

/** A frame, as views into its bytes: nothing is copied. */
export interface Frame {
  revision: number;
  tick: number;
  run?: Run;
  /** Eleven words a body: slot, x y z, quaternion, velocity. */
  rigidWords: Uint32Array;
  rigid: Float32Array;
  points: Points[];
  /** Six numbers a link. */
  links: Float32Array;
  held: Held[];
  nodes: Points[];
  /** Six numbers a contact: point, force. */
  contacts: Float32Array;
  /** Seven numbers a constraint: point, force, largest. */
  constraints: Float32Array;
  strain: Shares[];
  velocities: Points[];
  residuals: Float32Array;
  grips: Grip[];
  /** Pressure at surface points [Pa]. */
  pressure: Shares[];
  /** Orientations of particles: four 16-bit parts each. */
  turns: { slot: number; parts: Int16Array }[];
  /** Entries of the energy ledger since the scene began [J], in the order of docs/ledger.md. */
  ledger: Float32Array;
}

/** A number for each surface point, as a share of the largest in a byte. */
export interface Shares {
  slot: number;
  largest: number;
  shares: Uint8Array;
}

/** What a soft body does to another. */
export interface Grip {
  finger: number;
  object: number;
  /** Force x y z [N], normal force [N], area [m²], largest pressure [Pa], centre x y z [m]. */
  numbers: Float32Array;
}

export const PROTOCOL = 3;
export const RIGID = 11;
const MAGIC = 0x32464e53; // 'SNF2'
const HEAD = 4;

/** Reads a frame; undefined when the bytes are none. */
export function readFrame(bytes: ArrayBuffer): Frame | undefined {
  if (bytes.byteLength < 4 * HEAD || bytes.byteLength % 4 !== 0) return undefined;
  const words = new Uint32Array(bytes);
  const reals = new Float32Array(bytes);
  if (words[0] !== MAGIC) return undefined;
  const none = reals.subarray(0, 0);
  const frame: Frame = {
    revision: words[1], tick: words[2], rigidWords: words.subarray(0, 0), rigid: none, points: [], links: none, held: [],
    nodes: [], contacts: none, constraints: none, strain: [], velocities: [], residuals: none,
    grips: [], pressure: [], turns: [], ledger: none,
  };
  let at = HEAD;
  for (let k = 0; k < words[3]; k++) {
    if (at + 2 > words.length) return undefined;
    const [tag, from, to] = [words[at], at + 2, at + 2 + words[at + 1]];
    if (to > words.length) return undefined;
    section(frame, tag, words.subarray(from, to), reals.subarray(from, to));
    at = to;
  }
  return frame;
}

function section(frame: Frame, tag: number, words: Uint32Array, reals: Float32Array): void {
  switch (tag) {
    case 1: frame.run = readRun(words, reals); break;
    case 2: [frame.rigidWords, frame.rigid] = [words, reals]; break;
    case 3: frame.points = readPoints(words, reals); break;
    case 4: frame.links = reals; break;
    case 5:
      for (let at = 0; at + 10 <= words.length; at += 10) frame.held.push({ viewer: words[at], numbers: reals.subarray(at + 1, at + 10) });
      break;
    case 6: frame.nodes = readPoints(words, reals); break;
    case 7: frame.contacts = reals; break;
    case 8: frame.constraints = reals; break;
    case 9: frame.strain = readShares(words, reals); break;
    case 10: frame.velocities = readPoints(words, reals); break;
    case 11: frame.residuals = reals; break;
    case 12:
      for (let at = 0; at + 11 <= words.length; at += 11)
        frame.grips.push({ finger: words[at], object: words[at + 1], numbers: reals.subarray(at + 2, at + 11) });
      break;
    case 13: frame.pressure = readShares(words, reals); break;
    case 14:
      for (let at = 0; at + 2 <= words.length; ) {
        const count = Math.min(words[at + 1], (words.length - at - 2) >> 1);
        frame.turns.push({ slot: words[at], parts: new Int16Array(words.buffer, words.byteOffset + 4 * (at + 2), 4 * count) });
        at += 2 + 2 * words[at + 1];
      }
      break;
    case 15: frame.ledger = reals; break;
    // sections of a later server are passed over
  }
}

function readShares(words: Uint32Array, reals: Float32Array): Shares[] {
  const out: Shares[] = [];
  for (let at = 0; at + 3 <= words.length; ) {
    const count = words[at + 1];
    const shares = new Uint8Array(words.buffer, words.byteOffset + 4 * (at + 3), Math.min(count, 4 * (words.length - at - 3)));
    out.push({ slot: words[at], largest: reals[at + 2], shares });
    at += 3 + Math.ceil(count / 4);
  }
  return out;
}

function readRun(words: Uint32Array, reals: Float32Array): Run {
  const [awake, asleep, islands, contacts, contactRows, constraintRows, sweeps, iterations, substeps, viewers] = words.subarray(18, 28);
  return {
    time: reals[0], realTimeFactor: reals[1], stepMs: reals[2], budgetMs: reals[3], phases: reals.subarray(4, 14),
    kinetic: reals[14], gravity: reals[15], elastic: reals[16], penetration: reals[17],
    awake, asleep, islands, contacts, contactRows, constraintRows, sweeps, iterations, substeps, viewers,
  };
}

function readPoints(words: Uint32Array, reals: Float32Array): Points[] {
  const out: Points[] = [];
  for (let at = 0; at + 8 <= words.length; ) {
    const count = words[at + 1];
    const size = Math.ceil((3 * count) / 2);
    if (at + 8 + size > words.length) break;
    const steps = new Uint16Array(words.buffer, words.byteOffset + 4 * (at + 8), 3 * count);
    out.push({ slot: words[at], count, box: reals.subarray(at + 2, at + 8), steps });
    at += 8 + size;
  }
  return out;
}

/** Writes points as numbers. */
export function unpack(points: Points, to: Float32Array): void {
  const [x, y, z, sx, sy, sz] = points.box;
  const { steps } = points;
  for (let k = 0; k < 3 * points.count; k += 3) {
    to[k] = x + steps[k] * sx;
    to[k + 1] = y + steps[k + 1] * sy;
    to[k + 2] = z + steps[k + 2] * sz;
  }
}
