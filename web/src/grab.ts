// The hand: a press on a body holds it, moving pulls it on the plane through the hit that faces the camera, letting go
// throws it. A press beside all bodies is the camera's.

import * as THREE from 'three';
import type { Bodies } from './bodies';
import type { Connection } from './connection';
import type { Frame, Triple } from './protocol';
import type { Stage } from './stage';

export class Hand {
  readonly object = new THREE.Group();
  holding = false;
  private pointer = -1;
  private readonly ray = new THREE.Raycaster();
  private readonly plane = new THREE.Plane();
  private target?: Triple;
  /** Last move of a mouse that holds nothing, and when what it is over was looked for [ms]. */
  private hover?: PointerEvent;
  private looked = 0;
  private readonly line: THREE.Line;
  private readonly grip: THREE.Mesh;

  constructor(
    private readonly stage: Stage,
    private readonly bodies: Bodies,
    private readonly connection: Connection,
  ) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(6), 3));
    const look = { color: 0xc81d25, depthTest: false, transparent: true };
    this.line = new THREE.Line(geometry, new THREE.LineBasicMaterial(look));
    this.line.frustumCulled = false;
    this.grip = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial(look));
    this.line.renderOrder = this.grip.renderOrder = 4;
    this.object.add(this.line, this.grip);
    this.object.visible = false;
    const { canvas } = stage;
    canvas.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
      canvas.addEventListener(end, (event) => event.pointerId === this.pointer && this.release());
    addEventListener('blur', () => this.release());
  }

  private aim(event: PointerEvent): void {
    const at = new THREE.Vector2((event.clientX / innerWidth) * 2 - 1, 1 - (event.clientY / innerHeight) * 2);
    this.ray.setFromCamera(at, this.stage.camera);
  }

  /** The body under the pointer that can be held. */
  private hit(): THREE.Intersection | undefined {
    const movable = [...this.bodies.actors.values()].filter(({ body }) => body.motion === 'dynamic');
    return this.ray.intersectObjects(movable.map(({ object }) => object), true)[0];
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0 || this.holding) return;
    this.aim(event);
    const hit = this.hit();
    if (!hit) return;
    this.holding = true;
    this.pointer = event.pointerId;
    this.stage.controls.enabled = false;
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.plane.setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new THREE.Vector3()), hit.point);
    this.connection.tell({ command: 'grab', slot: hit.object.userData.slot as number, at: hit.point.toArray() as Triple });
  }

  private move(event: PointerEvent): void {
    if (!this.holding) {
      this.hover = event.buttons === 0 && event.pointerType === 'mouse' ? event : undefined;
      return;
    }
    if (event.pointerId !== this.pointer) return;
    this.aim(event);
    this.target = this.ray.ray.intersectPlane(this.plane, new THREE.Vector3())?.toArray() as Triple | undefined;
  }

  release(): void {
    if (!this.holding) return;
    this.flush();
    this.holding = false;
    this.pointer = -1;
    this.stage.controls.enabled = true;
    this.object.visible = false;
    this.connection.tell({ command: 'release' });
  }

  /** Sends where the hand is, once a picture; looks for bodies under it less often, because that goes over all triangles. */
  flush(): void {
    if (this.hover && performance.now() - this.looked > 100) {
      this.looked = performance.now();
      this.aim(this.hover);
      this.hover = undefined;
      this.stage.canvas.style.cursor = this.hit() ? 'grab' : '';
    }
    if (this.target) this.connection.tell({ command: 'drag', to: this.target });
    this.target = undefined;
  }

  /** Draws the spring. */
  show(frame: Frame): void {
    const mine = this.holding ? frame.held.find((h) => h.viewer === this.connection.viewer)?.numbers : undefined;
    this.object.visible = mine !== undefined;
    if (!mine) return;
    const places = this.line.geometry.getAttribute('position') as THREE.BufferAttribute;
    places.array.set(mine.subarray(0, 6));
    places.needsUpdate = true;
    this.grip.position.fromArray(mine);
    this.grip.scale.setScalar(0.008 * this.stage.camera.position.distanceTo(this.grip.position));
  }
}
