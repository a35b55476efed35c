// The page: a picture of the world, a hand to pull it, knobs and charts. It draws the latest frame and keeps no physics.

import * as THREE from 'three';
import { Bodies } from './bodies';
import { Charts } from './charts';
import { Connection } from './connection';
import { by, Controls } from './controls';
import { Hand } from './grab';
import { listen } from './keyboard';
import { Overlays } from './overlays';
import type { Frame, Layer, Order, Scene } from './protocol';
import { Stage } from './stage';

const stage = new Stage(by<HTMLCanvasElement>('view'));
const bodies = new Bodies();
const overlays = new Overlays(bodies);
let scene: Scene | undefined;
/** The last frame that came, and the last one that was drawn. */
let latest: Frame | undefined;
let shown: Frame | undefined;
let framed = false;
let charts: Charts | undefined;
const middle = new THREE.Vector3();

const connection = new Connection({
  scene(next) {
    // the same scene again keeps the camera
    framed = framed && scene?.name === next.name;
    scene = next;
    latest = shown = undefined;
    bodies.show(next);
    overlays.show(next);
    controls.scene(next);
    charts ??= new Charts(by('charts'), next.phases);
    charts.clear();
  },
  status: (status) => controls.status(status),
  frame(next) {
    if (next.revision !== scene?.revision) return;
    latest = next;
    frames++;
    charts?.push(next, connection.viewer);
  },
  note: (text) => controls.note(text),
});
const controls = new Controls(connection, overlays, sayLayers);
const hand = new Hand(stage, bodies, connection);
stage.scene.add(bodies.group, overlays.group, hand.object);
listen(controls, connection, stage);

/** Charts are seen: on a wide window always, on a narrow one when their panel is open. */
const chartsShown = () => by('charts').getClientRects().length > 0;

function sayLayers(): void {
  const on: Layer[] = [...new Set([...overlays.layers(), ...(chartsShown() ? (['residuals', 'energies'] as Layer[]) : [])])];
  connection.tell({ command: 'layers', on });
}
connection.always(sayLayers);

// time that the page itself spends on a frame (not the drawing of the browser) [ms], and pictures a second
const work = { applies: [] as number[], pictures: 0 };
let [frames, pictures, counted] = [0, 0, performance.now()];

function apply(frame: Frame): void {
  bodies.move(frame);
  overlays.move(frame);
  hand.show(frame);
  if (!framed && scene) {
    const box = bodies.box();
    overlays.scale(box.getSize(new THREE.Vector3()).length());
    stage.frame(box, scene.camera);
    framed = true;
  }
  const centre = bodies.centre(middle);
  if (centre) stage.follow(centre);
  if (frame.run) controls.run(frame.run, work.pictures);
  if (overlays.on.has('strain')) by('strain-most').textContent = `${(100 * overlays.largest).toFixed(1)} %`;
  if (overlays.on.has('pressure')) by('strain-most').textContent = `${(1e-3 * overlays.largest).toPrecision(3)} kPa`;
}

function fit(): void {
  const wide = innerWidth >= 760;
  const left = wide ? by('panel').getBoundingClientRect().right : 0;
  const right = wide && chartsShown() ? innerWidth - by('charts').getBoundingClientRect().left : 0;
  const bottom = wide ? 0 : innerHeight - by('dock').getBoundingClientRect().top;
  stage.fit({ left, top: 0, width: innerWidth - left - right, height: innerHeight - bottom });
  sayLayers();
}
addEventListener('resize', fit);
fit();

stage.renderer.setAnimationLoop((now) => {
  const start = performance.now();
  hand.flush();
  if (latest && latest !== shown) {
    apply(latest);
    shown = latest;
    if (chartsShown()) charts?.grip(overlays.on.has('pressure') ? latest.grips : undefined, scene?.bodies ?? []);
    if (chartsShown() && pictures % 2 === 0) charts?.draw(latest);
    work.applies.push(performance.now() - start);
    if (work.applies.length > 60) work.applies.shift();
  }
  stage.draw();
  pictures++;
  if (now - counted > 1000) {
    work.pictures = Math.round((1000 * pictures) / (now - counted));
    if (!document.hidden) stage.ease(work.pictures);
    [pictures, counted] = [0, now];
  }
});

// for tests: what the page shows
Object.assign(window, {
  sinew: {
    work,
    tell: (order: Order) => connection.tell(order),
    tick: () => shown?.tick ?? -1,
    time: () => shown?.run?.time ?? -1,
    scene: () => scene?.name ?? '',
    viewer: () => connection.viewer,
    frames: () => frames,
    samples: () => charts?.samples ?? 0,
    triangles: () => stage.renderer.info.render.triangles,
    run: () => shown?.run,
    grips: () => shown?.grips.map((g) => ({ finger: g.finger, object: g.object, numbers: Array.from(g.numbers) })) ?? [],
    force: () => shown?.held.find((h) => h.viewer === connection.viewer)?.numbers.slice(6) ?? null,
    /** A sum over all poses and points of the last frame: equal frames, equal sums. */
    digest(): number {
      if (!shown) return 0;
      let sum = 0;
      for (const word of shown.rigidWords) sum = (Math.imul(sum, 31) + word) | 0;
      for (const points of shown.points) for (const step of points.steps) sum = (Math.imul(sum, 31) + step) | 0;
      return sum;
    },
    /** Mean of a body's surface points or its place [m]. */
    place(name: string): number[] | null {
      const actor = [...bodies.actors.values()].find((a) => a.body.name === name);
      if (!actor) return null;
      if (actor.body.kind === 'rigid') return actor.object.position.toArray();
      const box = new THREE.Box3().setFromArray(actor.points);
      return box.getCenter(new THREE.Vector3()).toArray();
    },
    /** Where a point of the world is on the screen [pixels]. */
    screen(at: [number, number, number]): [number, number] {
      const p = new THREE.Vector3(...at).project(stage.camera);
      return [((p.x + 1) / 2) * innerWidth, ((1 - p.y) / 2) * innerHeight];
    },
  },
});
