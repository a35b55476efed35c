// Ground lines at y = 0, drawn by the shader of one square: sharp near by, faded far away. Long lines that end behind the
// camera are lost by some software renderers.

import * as THREE from 'three';

const CELLS = 120;

export class Grid extends THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial> {
  constructor() {
    super(
      new THREE.PlaneGeometry(CELLS, CELLS).rotateX(-Math.PI / 2),
      new THREE.ShaderMaterial({
        transparent: true,
        depthWrite: false,
        uniforms: { colour: { value: new THREE.Color(0x44565f) } },
        vertexShader: `
          varying vec2 place;
          void main() {
            place = position.xz;
            gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
          }`,
        // share of a pixel that a line of a pixel's width covers; every tenth line is stronger
        fragmentShader: `
          uniform vec3 colour;
          varying vec2 place;
          float lines(vec2 p) {
            vec2 width = fwidth(p);
            vec2 far = abs(fract(p - 0.5) - 0.5) / width;
            float cover = 1.0 - min(min(far.x, far.y), 1.0);
            return cover * clamp(1.0 - 2.5 * max(width.x, width.y), 0.0, 1.0);
          }
          void main() {
            float fade = 1.0 - smoothstep(0.12, 0.5, length(place) / ${CELLS.toFixed(1)});
            gl_FragColor = vec4(colour, fade * max(0.3 * lines(place), 0.55 * lines(place / 10.0)));
          }`,
      }),
    );
    this.name = 'grid';
  }

  /** Cells of 1, 0.1, … m, some ten of them across a scene of this size [m]. */
  lay(size: number): void {
    const cell = 10 ** Math.floor(Math.log10(size) - 0.3);
    this.scale.set(cell, 1, cell);
    this.position.y = 0.001 * size;
  }
}
