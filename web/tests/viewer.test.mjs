// What a person does with the page, in a real browser: see docs/viewer.md. Run by `cargo xtask check`.

import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, freePort, launch, open, serve, until } from './harness.mjs';

let browser, server, port;
// small: the picture is drawn without a graphics card
const WIDE = { width: 780, height: 420 };

before(async () => {
  browser = await launch();
  port = await freePort();
  server = await serve('pudding', port);
});

after(async () => {
  await server?.stop();
  await browser?.close();
});

/** The page with a fresh scene and no faults at the end. */
async function on(scene, steps) {
  const page = await open(browser, server.url, WIDE);
  try {
    // the same scene may still run: it begins anew when its time falls back
    const old = (await ask(page, 'scene')) === scene ? await ask(page, 'time') : Infinity;
    await page.evaluate((name) => window.sinew.tell({ command: 'pause', on: false }) || window.sinew.tell({ command: 'scene', name }), scene);
    await until(page, 'scene', (name) => name === scene, 'the scene comes');
    await until(page, 'time', (time) => time < old, 'it begins anew');
    await until(page, 'tick', (tick) => tick >= 0, 'it begins');
    await steps(page);
    assert.deepEqual(page.faults, [], 'the page made no error');
  } finally {
    await page.close();
  }
}

/** Pixels of the middle of the window, where the body is. */
const pixels = (page) => page.screenshot({ clip: { x: 270, y: 60, width: 240, height: 320 } });

test('the page draws, and the jelly changes over time', () => on('pudding', async (page) => {
  // paused at its start: on a slow machine it lies still before the first picture is taken
  await page.evaluate(() => window.sinew.tell({ command: 'pause', on: true }) || window.sinew.tell({ command: 'reset' }));
  await until(page, 'tick', (t) => t === 0, 'it is at its start');
  await page.waitForTimeout(300);
  const first = await pixels(page);
  await page.evaluate(() => window.sinew.tell({ command: 'pause', on: false }));
  await until(page, 'tick', (t) => t > 20, 'time goes on');
  await page.waitForTimeout(300);
  assert.ok(!first.equals(await pixels(page)), 'the picture changed');
  assert.ok((await ask(page, 'triangles')) > 500, 'triangles are drawn');
}));

test('pause holds the world, step moves it by one, play goes on', () => on('domino', async (page) => {
  await page.click('#pause');
  await page.waitForFunction(() => document.body.classList.contains('paused'));
  await page.waitForTimeout(300);
  const held = await ask(page, 'tick');
  await page.waitForTimeout(700);
  assert.equal(await ask(page, 'tick'), held, 'nothing moves');
  await page.click('#step');
  assert.equal(await until(page, 'tick', (t) => t !== held, 'it steps'), held + 1);
  await page.keyboard.press('Space');
  await page.locator('#view').press('Space');
  await until(page, 'tick', (t) => t > held + 5, 'it goes on');
}));

test('a grabbed body follows the mouse, and the force is shown', () => on('pudding', async (page) => {
  await until(page, 'time', (t) => t > 1.5, 'it has landed');
  const before = await ask(page, 'place', 'pudding');
  const [x, y] = await ask(page, 'screen', before);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 60, { steps: 4 });
  await page.mouse.move(x, y - 120, { steps: 4 });
  await until(page, 'force', (f) => f !== null && Math.hypot(...f) > 0.1, 'the hand pulls');
  const start = Date.now();
  let lifted = 0;
  while (Date.now() - start < 12000 && lifted < 0.03) {
    lifted = (await ask(page, 'place', 'pudding'))[1] - before[1];
    await page.waitForTimeout(100);
  }
  assert.ok(lifted >= 0.03, `lifted by ${lifted} m`);
  await page.mouse.up();
  await until(page, 'force', (f) => f === null, 'it is let go');
}));

test('sliders act while it runs', () => on('pudding', async (page) => {
  await until(page, 'time', (t) => t > 1.5, 'it has landed');
  const slide = (name, value) => page.locator(`input[name="${name}"]`).evaluate((input, v) => {
    input.value = String(v);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, value);
  const before = await ask(page, 'place', 'pudding');
  // half as stiff: it sags under its own weight, and time does not begin anew
  const time = await ask(page, 'time');
  await slide('stiffness', Math.log(0.5));
  const began = Date.now();
  let sagged = 0;
  while (Date.now() - began < 15000 && sagged < 0.002) {
    sagged = before[1] - (await ask(page, 'place', 'pudding'))[1];
    await page.waitForTimeout(100);
  }
  assert.ok(sagged >= 0.002, `it sags, by ${sagged} m`);
  assert.ok((await ask(page, 'time')) >= time, 'time goes on');
  await slide('stiffness', 0);
  await slide('gravity', 5);
  const start = Date.now();
  let rise = 0;
  while (Date.now() - start < 10000 && rise < 0.2) {
    rise = (await ask(page, 'place', 'pudding'))[1] - before[1];
    await page.waitForTimeout(100);
  }
  assert.ok(rise >= 0.2, `it flies up, by ${rise} m`);
  await slide('substeps', 8);
  await until(page, 'run', (run) => run.substeps === 8 || run.iterations > 0, 'substeps act');
}));

test('charts and overlays advance', () => on('pudding', async (page) => {
  const samples = await ask(page, 'samples');
  const chart = () => page.locator('.chart canvas').first().evaluate((c) => c.toDataURL());
  const first = await chart();
  await until(page, 'samples', (n) => n > samples + 10, 'samples come');
  // pictures may be rare on a machine that draws without a GPU
  const moved = (before) => document.querySelector('.chart canvas').toDataURL() !== before;
  await page.waitForFunction(moved, first, { timeout: 20000 });
  assert.ok(Number.isFinite((await ask(page, 'run')).elastic), 'the elastic energy is there');
  for (const key of '12345678') await page.locator('#view').press(key);
  const tick = await ask(page, 'tick');
  await until(page, 'tick', (t) => t > tick + 10, 'it runs with all overlays');
  assert.equal(await page.locator('#switches input:checked').count(), 8);
  assert.notEqual(await page.textContent('#strain-most'), '');
}));

test('two viewers see the same frame', () => on('domino', async (page) => {
  const other = await open(browser, server.url, WIDE);
  await page.click('#pause');
  for (const p of [page, other]) await p.waitForFunction(() => document.body.classList.contains('paused'));
  await page.waitForTimeout(500);
  const [a, b] = await Promise.all([page, other].map((p) => p.evaluate(() => [window.sinew.tick(), window.sinew.digest()])));
  assert.deepEqual(a, b);
  assert.notEqual(await ask(page, 'viewer'), await ask(other, 'viewer'));
  await other.close();
}));

test('the keyboard help lists the keys', () => on('domino', async (page) => {
  await page.locator('#view').press('?');
  assert.ok((await page.locator('#keys dt').count()) >= 14);
  await page.keyboard.press('Escape');
}));

test('fingers show force, area and pressure, and the picture follows what they lift', () => on('grasp-block', async (page) => {
  await page.check('#overlay-strain');
  await page.check('#overlay-pressure');
  assert.equal(await page.locator('#overlay-strain').isChecked(), false, 'one colour at a time');
  await page.evaluate(() => window.sinew.tell({ command: 'speed', value: 4 }));
  await until(page, 'time', (t) => t > 3, 'it is lifted', 60000);
  const object = (list) => list.filter((g) => Math.abs(g.numbers[3] - 10) < 0.2 && g.numbers[4] > 5e-4 && g.numbers[5] > 1e3);
  await until(page, 'grips', (list) => object(list).length === 2, 'both fingers press with 10 N');
  await page.waitForTimeout(2000);
  const [, y] = await ask(page, 'screen', await ask(page, 'place', 'object'));
  assert.ok(y > 0 && y < WIDE.height, `the block is in the picture, at ${y}`);
  assert.match(await page.textContent('#strain-most'), /kPa/);
  await page.evaluate(() => window.sinew.tell({ command: 'speed', value: 1 }));
}));

test('oriented particles are drawn as ellipsoids', () => on('twist-chain', async (page) => {
  // 25 of them, and not a thin tube
  await until(page, 'triangles', (n) => n > 10000, 'they are drawn');
}));

test('a phone-sized window works: panels open and the picture stays', async () => {
  const page = await open(browser, server.url, { width: 390, height: 700 });
  for (const tab of ['controls', 'overlays', 'charts']) {
    await page.click(`#tabs button[value=${tab}]`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${tab}: ${wide} pixels wide`);
    assert.ok((await page.locator('#dock').boundingBox()).y > 150, 'the picture is not covered');
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('50,000 surface triangles leave the page time for 60 pictures a second', async () => {
  const big = await serve(fileURLToPath(new URL('big.toml', import.meta.url)), await freePort());
  const page = await open(browser, big.url, WIDE);
  const { applies } = await until(page, 'work', (work) => work.applies.length >= 20, 'frames come', 30000);
  const median = [...applies].sort((a, b) => a - b)[applies.length >> 1];
  console.log(`# ${await ask(page, 'triangles')} triangles: ${median.toFixed(1)} ms a frame`);
  assert.ok((await ask(page, 'triangles')) >= 49000);
  assert.ok(median < 1000 / 60, `${median} ms`);
  await page.close();
  await big.stop();
});

test('the page comes back after the server restarts', () => on('domino', async (page) => {
  await server.stop();
  await page.waitForFunction(() => !document.getElementById('note').hidden);
  server = await serve('stack', port);
  await until(page, 'scene', (name) => name === 'stack', 'it is there again', 20000);
  const tick = await ask(page, 'tick');
  await until(page, 'tick', (t) => t > tick, 'frames come');
  assert.ok(await page.locator('#note').isHidden());
}));
