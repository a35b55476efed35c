// What the server says and what it is told; the frame's layout is in crates/sinew-server/src/frame.rs.

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
  shapes: { place: Place; shape: Shape }[];
  triangles: Triple[];
  surfels: number;
}

export interface Scene {
  kind: 'scene';
  name: string;
  about: string;
  dt: number;
  bodies: Body[];
  scenes: { name: string; about: string }[];
}

export type Order =
  | { command: 'pause'; on: boolean }
  | { command: 'step' | 'reset' | 'release' }
  | { command: 'speed' | 'gravity'; value: number }
  | { command: 'scene'; name: string }
  | { command: 'grab'; slot: number; at: Triple }
  | { command: 'drag'; to: Triple };

/** A frame, as views into its bytes: nothing is copied. */
export interface Frame {
  tick: number;
  time: number;
  stepMs: number;
  /** slot, then x y z and the quaternion. */
  rigid: { slot: number; pose: Float32Array }[];
  /** slot, then x y z of each surface point. */
  nodes: { slot: number; points: Float32Array }[];
  /** x y z and the force of each contact. */
  contacts: Float32Array;
}

const MAGIC = 0x31464e53; // 'SNF1'
const HEAD = 7;

/** Reads a frame; undefined when the bytes are none. */
export function readFrame(bytes: ArrayBuffer): Frame | undefined {
  if (bytes.byteLength < 4 * HEAD || bytes.byteLength % 4 !== 0) return undefined;
  const words = new Uint32Array(bytes);
  const reals = new Float32Array(bytes);
  if (words[0] !== MAGIC) return undefined;
  const [rigidCount, nodeCount, contactCount] = [words[4], words[5], words[6]];
  const frame: Frame = { tick: words[1], time: reals[2], stepMs: reals[3], rigid: [], nodes: [], contacts: reals.subarray(0, 0) };
  let at = HEAD;
  for (let k = 0; k < rigidCount; k++, at += 8) {
    if (at + 8 > words.length) return undefined;
    frame.rigid.push({ slot: words[at], pose: reals.subarray(at + 1, at + 8) });
  }
  for (let k = 0; k < nodeCount; k++) {
    const end = at + 2 + 3 * words[at + 1];
    if (!(end <= words.length)) return undefined;
    frame.nodes.push({ slot: words[at], points: reals.subarray(at + 2, end) });
    at = end;
  }
  if (at + 6 * contactCount > words.length) return undefined;
  frame.contacts = reals.subarray(at, at + 6 * contactCount);
  return frame;
}
