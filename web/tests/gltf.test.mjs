// Exported glTF against Khronos' validator. Run by `cargo xtask check`.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import validator from 'gltf-validator';

/** Rigid and soft bodies, cloth, rods, oriented particles, bones in tissue. */
const SCENES = ['mixed', 'cradle', 'twist-chain', 'hand'];

for (const scene of SCENES) {
  test(`the film of '${scene}' is glTF without a fault, a warning or a hint`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sinew-gltf-'));
    try {
      execFileSync(process.env.SINEW_BIN, ['run', scene, '--steps', '20', '--every', '5', '--export', folder, '--format', 'gltf']);
      const bytes = new Uint8Array(readFileSync(join(folder, `${scene}.glb`)));
      const { issues, info } = await validator.validateBytes(bytes);
      assert.deepEqual(issues.messages, []);
      assert.equal(info.animationCount, 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
