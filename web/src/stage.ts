// The stage: camera, lights, ground, and drawing. Bodies and overlays put their objects into its scene.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Grid } from './grid';

const SKY = 0xe9eef1;
const FAR = 400;

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(42, 1, 0.01, FAR);
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  readonly sun = new THREE.DirectionalLight(0xfff4e5, 2.6);
  /** Part of the window that panels do not cover, in pixels. */
  private clear = { left: 0, top: 0, width: 1, height: 1 };
  /** From 2, all that looks good, to 0. */
  private quality = 2;
  private slow = 0;
  private readonly grid = new Grid();
  /** A hand has moved the camera: it stays where it was put. */
  private touched = false;
  private chasing = false;
  private size = 1;
  private home = { eye: new THREE.Vector3(), target: new THREE.Vector3() };

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
    this.renderer.shadowMap.enabled = true;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.1;
    this.scene.background = new THREE.Color(SKY);
    this.scene.fog = new THREE.Fog(SKY, 20, FAR / 4);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener('start', () => (this.touched = true));
    this.scene.add(new THREE.HemisphereLight(0xf4f8ff, 0xc4beb6, 1.5));
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 4;
    this.scene.add(this.sun, this.sun.target, this.grid);
  }

  /** Looks at a box of the scene, from where the scene says or from a usual place. */
  frame(box: THREE.Box3, camera: { eye: number[]; target: number[] } | null): void {
    const size = Math.max(box.getSize(new THREE.Vector3()).length(), 0.2);
    const centre = box.getCenter(new THREE.Vector3());
    this.size = size;
    if (camera) {
      this.home.eye.fromArray(camera.eye);
      this.home.target.fromArray(camera.target);
    } else {
      this.home.target.copy(centre);
      this.home.eye.copy(centre).add(new THREE.Vector3(0.55, 0.38, 1).multiplyScalar(1.15 * size));
    }
    this.home.eye.sub(this.home.target);
    if (!camera) this.home.eye.setLength((0.55 * size) / Math.sin((this.camera.fov * Math.PI) / 360));
    // a part of the window sees less: step back
    const [across, down] = [this.clear.width / innerHeight, this.clear.height / innerHeight];
    this.home.eye.multiplyScalar(1 / Math.min(1, across, down)).add(this.home.target);
    // the shadow map covers the scene and no more: its cells stay small
    this.sun.position.copy(centre).add(new THREE.Vector3(-0.55, 0.95, 0.3).multiplyScalar(3 * size));
    this.sun.target.position.copy(centre);
    this.sun.target.updateMatrixWorld();
    const reach = 1.2 * size;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 8 * size });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * size;
    this.sun.shadow.bias = -0.0004;
    (this.scene.fog as THREE.Fog).near = 8 * size;
    (this.scene.fog as THREE.Fog).far = 40 * size + 10;
    this.grid.lay(size);
    this.camera.near = 0.005 * size;
    this.camera.updateProjectionMatrix();
    this.goHome();
  }

  goHome(): void {
    this.touched = this.chasing = false;
    this.camera.position.copy(this.home.eye);
    this.controls.target.copy(this.home.target);
    this.controls.update();
  }

  /** Goes along with bodies that leave the picture, such as what a hand lifts; not once the camera was moved by hand. */
  follow(centre: THREE.Vector3): void {
    if (this.touched || centre.distanceTo(this.home.target) > 3 * this.size) return;
    const seen = centre.clone().project(this.camera);
    const [x, y] = [seen.x * innerWidth - (2 * this.clear.left + this.clear.width - innerWidth), seen.y * innerHeight + (2 * this.clear.top + this.clear.height - innerHeight)];
    const away = Math.max(Math.abs(x) / this.clear.width, Math.abs(y) / this.clear.height);
    this.chasing = away > (this.chasing ? 0.15 : 0.55);
    if (!this.chasing) return;
    const by = centre.clone().sub(this.controls.target).multiplyScalar(0.15);
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.sun.position.add(by);
    this.sun.target.position.add(by);
    this.sun.target.updateMatrixWorld();
  }

  /** Fits the picture to the window, with its middle in the part that panels leave free. */
  fit(clear: { left: number; top: number; width: number; height: number }): void {
    const [width, height] = [innerWidth, innerHeight];
    this.clear = clear;
    this.renderer.setPixelRatio(this.quality === 2 ? Math.min(devicePixelRatio, 2) : this.quality === 1 ? 1 : 0.6);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    const [x, y] = [clear.left + clear.width / 2 - width / 2, clear.top + clear.height / 2 - height / 2];
    this.camera.setViewOffset(width, height, -x, -y, width, height);
    this.camera.updateProjectionMatrix();
  }

  /** Fewer pixels and a smaller shadow map for a machine that draws too slowly; it stays so. */
  ease(pictures: number): void {
    this.slow = pictures < 24 ? this.slow + 1 : 0;
    if (this.slow < 2 || this.quality === 0) return;
    this.slow = 0;
    this.quality--;
    const { shadow } = this.sun;
    shadow.mapSize.setScalar(this.quality === 1 ? 1024 : 512);
    shadow.map?.dispose();
    shadow.map = null;
    this.fit(this.clear);
  }

  draw(): void {
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
  }
}
