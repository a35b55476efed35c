// The page: a picture of the world, a hand to pull it, and a few knobs. It draws the latest frame and keeps no physics.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { type Body, type Frame, type Order, type Scene, type Triple, readFrame } from './protocol';
import { build, triangles } from './shapes';

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const canvas = by<HTMLCanvasElement>('view');
const status = by('status');

// picture
const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
renderer.shadowMap.enabled = true;
const picture = new THREE.Scene();
picture.background = new THREE.Color(0xdfe5e8);
const camera = new THREE.PerspectiveCamera(45, 1, 0.01, 200);
const controls = new OrbitControls(camera, canvas);
controls.enableDamping = true;
picture.add(new THREE.HemisphereLight(0xffffff, 0x8a8f94, 1.4));
const sun = new THREE.DirectionalLight(0xffffff, 2.2);
sun.position.set(4, 9, 5);
sun.castShadow = true;
sun.shadow.mapSize.set(2048, 2048);
picture.add(sun);
const arrows = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xc02020 }));
arrows.frustumCulled = false;
picture.add(arrows);

// bodies
const COLOURS = [0x4f8fc0, 0xd98c4a, 0x6aa84f, 0xb565a7, 0xd9b44a, 0x5aa5a0, 0xc75b5b, 0x7a77c9];
let bodies = new Map<number, { body: Body; object: THREE.Object3D }>();
let latest: Frame | undefined;
let fresh = false;

function colour(body: Body): THREE.MeshStandardMaterial {
  const fixed = body.motion !== 'dynamic';
  const material = new THREE.MeshStandardMaterial({
    color: fixed ? 0x9aa4aa : COLOURS[body.slot % COLOURS.length],
    roughness: body.kind === 'soft' ? 0.35 : 0.7,
    side: body.kind === 'soft' ? THREE.DoubleSide : THREE.FrontSide,
  });
  material.wireframe = by<HTMLInputElement>('wireframe').checked;
  return material;
}

function make(body: Body): THREE.Object3D {
  if (body.kind === 'rigid') {
    const group = new THREE.Group();
    const material = colour(body);
    for (const part of body.shapes) group.add(build(part.shape, material, part.place));
    return group;
  }
  const empty = new Float32Array(3 * body.surfels);
  if (body.triangles.length > 0) return new THREE.Mesh(triangles(empty, body.triangles), colour(body));
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(empty, 3));
  return new THREE.Points(geometry, new THREE.PointsMaterial({ color: COLOURS[body.slot % COLOURS.length], size: 0.03 }));
}

function show(scene: Scene): void {
  for (const { object } of bodies.values()) picture.remove(object);
  bodies = new Map();
  for (const body of scene.bodies) {
    const object = make(body);
    object.traverse((part) => {
      part.userData.slot = body.slot;
      if (part instanceof THREE.Mesh && part.parent?.type !== 'GridHelper') {
        part.castShadow = body.motion === 'dynamic';
        part.receiveShadow = true;
      }
      part.frustumCulled = body.kind === 'rigid';
    });
    picture.add(object);
    bodies.set(body.slot, { body, object });
  }
  const picker = by<HTMLSelectElement>('scene');
  picker.replaceChildren(...scene.scenes.map((s) => new Option(s.name, s.name, false, s.name === scene.name)));
  by('about').textContent = scene.about;
  framed = false;
}

let framed = false;
/** Looks at everything that moves, once a scene. */
function lookAround(): void {
  const box = new THREE.Box3();
  for (const { body, object } of bodies.values()) if (body.motion === 'dynamic') box.expandByObject(object, true);
  if (box.isEmpty()) box.set(new THREE.Vector3(-1, 0, -1), new THREE.Vector3(1, 1, 1));
  box.expandByPoint(new THREE.Vector3(0, 0, 0));
  const size = Math.max(box.getSize(new THREE.Vector3()).length(), 0.2);
  box.getCenter(controls.target);
  camera.position.copy(controls.target).add(new THREE.Vector3(0.7, 0.45, 1.0).multiplyScalar(1.3 * size));
  // the shadow map covers the scene and no more: its cells stay small
  sun.position.copy(controls.target).add(new THREE.Vector3(0.4, 0.9, 0.5).multiplyScalar(4 * size));
  sun.target.position.copy(controls.target);
  sun.target.updateMatrixWorld();
  const reach = 1.5 * size;
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 8 * size });
  sun.shadow.camera.updateProjectionMatrix();
  sun.shadow.normalBias = 0.01 * size;
  framed = true;
}

function draw(frame: Frame): void {
  for (const { slot, pose } of frame.rigid) {
    const object = bodies.get(slot)?.object;
    object?.position.fromArray(pose);
    object?.quaternion.fromArray(pose, 3);
  }
  for (const { slot, points } of frame.nodes) {
    const object = bodies.get(slot)?.object;
    if (!(object instanceof THREE.Mesh || object instanceof THREE.Points)) continue;
    const attribute = object.geometry.getAttribute('position') as THREE.BufferAttribute;
    if (attribute.array.length !== points.length) continue;
    attribute.array.set(points);
    attribute.needsUpdate = true;
    if (object instanceof THREE.Mesh) object.geometry.computeVertexNormals();
    object.geometry.computeBoundingSphere();
  }
  const wanted = by<HTMLInputElement>('contacts').checked;
  arrows.visible = wanted;
  if (wanted) arrows.geometry.setAttribute('position', new THREE.BufferAttribute(forceLines(frame.contacts), 3));
  if (!framed) lookAround();
  status.textContent = `t = ${frame.time.toFixed(2)} s, step ${frame.stepMs.toFixed(2)} ms`;
}

/** One line a contact, 1 cm for 1 N up to 0.5 m. */
function forceLines(contacts: Float32Array): Float32Array {
  const lines = new Float32Array(contacts.length);
  for (let k = 0; k < contacts.length; k += 6) {
    const size = Math.hypot(contacts[k + 3], contacts[k + 4], contacts[k + 5]);
    const scale = Math.min(0.01, 0.5 / Math.max(size, 1e-9));
    for (let i = 0; i < 3; i++) {
      lines[k + i] = contacts[k + i];
      lines[k + 3 + i] = contacts[k + i] + contacts[k + 3 + i] * scale;
    }
  }
  return lines;
}

// talk
let socket: WebSocket;
function connect(): void {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/socket`);
  socket.binaryType = 'arraybuffer';
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') show(JSON.parse(data) as Scene);
    else {
      latest = readFrame(data as ArrayBuffer) ?? latest;
      fresh = true;
    }
  };
  socket.onclose = () => {
    status.textContent = 'the server is gone; trying again…';
    setTimeout(connect, 1000);
  };
}
function tell(order: Order): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(order));
}

// the hand: drag a body on the plane through the hit that faces the camera
const ray = new THREE.Raycaster();
const plane = new THREE.Plane();
let holding = false;
function aim(event: PointerEvent): void {
  const at = new THREE.Vector2((event.clientX / innerWidth) * 2 - 1, 1 - (event.clientY / innerHeight) * 2);
  ray.setFromCamera(at, camera);
}
canvas.addEventListener(
  'pointerdown',
  (event) => {
    if (event.button !== 0) return;
    aim(event);
    const movable = [...bodies.values()].filter(({ body }) => body.motion === 'dynamic').map(({ object }) => object);
    const hit = ray.intersectObjects(movable, true)[0];
    if (!hit) return;
    holding = true;
    controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
    plane.setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), hit.point);
    tell({ command: 'grab', slot: hit.object.userData.slot as number, at: hit.point.toArray() as Triple });
  },
  { capture: true },
);
canvas.addEventListener('pointermove', (event) => {
  if (!holding) return;
  aim(event);
  const to = ray.ray.intersectPlane(plane, new THREE.Vector3());
  if (to) tell({ command: 'drag', to: to.toArray() as Triple });
});
for (const end of ['pointerup', 'pointercancel'] as const) {
  canvas.addEventListener(end, () => {
    if (!holding) return;
    holding = false;
    controls.enabled = true;
    tell({ command: 'release' });
  });
}

// knobs
let paused = false;
function pause(): void {
  paused = !paused;
  by('pause').textContent = paused ? 'Go on' : 'Pause';
  tell({ command: 'pause', on: paused });
}
by('pause').onclick = pause;
by('step').onclick = () => tell({ command: 'step' });
by('reset').onclick = () => tell({ command: 'reset' });
by<HTMLSelectElement>('scene').onchange = (e) => tell({ command: 'scene', name: (e.target as HTMLSelectElement).value });
by<HTMLInputElement>('speed').oninput = (e) => {
  const value = 2 ** Number((e.target as HTMLInputElement).value);
  by('speed-value').textContent = value.toPrecision(2);
  tell({ command: 'speed', value });
};
by<HTMLInputElement>('gravity').oninput = (e) => {
  const value = Number((e.target as HTMLInputElement).value);
  by('gravity-value').textContent = String(value);
  tell({ command: 'gravity', value });
};
by<HTMLInputElement>('wireframe').onchange = (e) => {
  const wireframe = (e.target as HTMLInputElement).checked;
  for (const { object } of bodies.values())
    object.traverse((part) => {
      if (part instanceof THREE.Mesh && part.material instanceof THREE.MeshStandardMaterial) part.material.wireframe = wireframe;
    });
};
addEventListener('keydown', (event) => {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
  if (event.code === 'Space') pause();
  else if (event.code === 'ArrowRight') tell({ command: 'step' });
  else if (event.code === 'KeyR') tell({ command: 'reset' });
  else return;
  event.preventDefault();
});

// loop
function fit(): void {
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  renderer.setSize(innerWidth, innerHeight, false);
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
}
addEventListener('resize', fit);
fit();
connect();
renderer.setAnimationLoop(() => {
  if (fresh && latest) {
    fresh = false;
    draw(latest);
  }
  controls.update();
  renderer.render(picture, camera);
});
