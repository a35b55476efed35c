// What a person does with the page, in a real browser: see docs/viewer.md. Run by `cargo xtask check`.

import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, eventually, freePort, launch, open, serve, until } from './harness.mjs';

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

/** What is seen, once it has stayed the same for 700 ms. */
async function still(look, same, why) {
  let [last, since] = [await look(), Date.now()];
  return eventually(async () => {
    const now = await look();
    if (!same(now, last)) [last, since] = [now, Date.now()];
    return last;
  }, () => Date.now() - since > 700, `${why} that stays`);
}

test('the page draws, and the jelly changes over time', () => on('pudding', async (page) => {
  // paused at its start: on a slow machine it lies still before the first picture is taken
  await page.evaluate(() => window.sinew.tell({ command: 'pause', on: true }) || window.sinew.tell({ command: 'reset' }));
  await until(page, 'tick', (t) => t === 0, 'it is at its start');
  const first = await still(() => pixels(page), (a, b) => a.equals(b), 'one picture');
  await page.evaluate(() => window.sinew.tell({ command: 'pause', on: false }));
  await until(page, 'tick', (t) => t > 20, 'time goes on');
  await eventually(() => pixels(page), (now) => !first.equals(now), 'the picture changes');
  assert.ok((await ask(page, 'triangles')) > 500, 'triangles are drawn');
}));

test('pause holds the world, step moves it by one, play goes on', () => on('domino', async (page) => {
  await page.click('#pause');
  await page.waitForFunction(() => document.body.classList.contains('paused'));
  const held = await still(() => ask(page, 'tick'), (a, b) => a === b, 'a tick');
  await page.click('#step');
  assert.equal(await until(page, 'tick', (t) => t !== held, 'it steps'), held + 1);
  await page.keyboard.press('Space');
  await page.locator('#view').press('Space');
  await until(page, 'tick', (t) => t > held + 5, 'it goes on');
}));

/** How high the pudding is [m]. */
const height = async (page) => (await ask(page, 'place', 'pudding'))[1];

test('a grabbed body follows the mouse, and the force is shown', () => on('pudding', async (page) => {
  await until(page, 'time', (t) => t > 1.5, 'it has landed');
  const before = await ask(page, 'place', 'pudding');
  const [x, y] = await ask(page, 'screen', before);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 60, { steps: 4 });
  await page.mouse.move(x, y - 120, { steps: 4 });
  await until(page, 'force', (f) => f !== null && Math.hypot(...f) > 0.1, 'the hand pulls');
  await eventually(() => height(page), (y) => y - before[1] >= 0.03, 'it is lifted by 3 cm');
  await page.mouse.up();
  await until(page, 'force', (f) => f === null, 'it is let go');
}));

test('sliders act while it runs', () => on('pudding', async (page) => {
  await until(page, 'time', (t) => t > 1.5, 'it has landed');
  const slide = (name, value) => page.locator(`input[name="${name}"]`).evaluate((input, v) => {
    input.value = String(v);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, value);
  const before = await height(page);
  // half as stiff: it sags under its own weight, and time does not begin anew
  const time = await ask(page, 'time');
  await slide('stiffness', Math.log(0.5));
  await eventually(() => height(page), (y) => before - y >= 0.002, 'it sags by 2 mm');
  assert.ok((await until(page, 'time', (t) => t >= 0, 'a frame of the new stiffness')) >= time, 'time goes on');
  await slide('stiffness', 0);
  await slide('gravity', 5);
  await eventually(() => height(page), (y) => y - before >= 0.2, 'it flies up by 20 cm');
  await slide('substeps', 8);
  await until(page, 'run', (run) => run.substeps === 8 || run.iterations > 0, 'substeps act');
}));

test('charts and overlays advance', () => on('pudding', async (page) => {
  const samples = await ask(page, 'samples');
  const chart = () => page.locator('.chart canvas').first().evaluate((c) => c.toDataURL());
  const first = await chart();
  await until(page, 'samples', (n) => n > samples + 10, 'samples come');
  await eventually(chart, (now) => now !== first, 'the chart moves');
  assert.ok(Number.isFinite((await ask(page, 'run')).elastic), 'the elastic energy is there');
  for (const key of '12345678') await page.locator('#view').press(key);
  const tick = await ask(page, 'tick');
  await until(page, 'tick', (t) => t > tick + 10, 'it runs with all overlays');
  assert.equal(await page.locator('#switches input:checked').count(), 8);
  await eventually(() => page.textContent('#strain-most'), (text) => text.endsWith('%'), 'the largest strain is told');
}));

test('two viewers see the same frame', () => on('domino', async (page) => {
  const other = await open(browser, server.url, WIDE);
  await page.click('#pause');
  for (const p of [page, other]) await p.waitForFunction(() => document.body.classList.contains('paused'));
  const both = () => Promise.all([page, other].map((p) => p.evaluate(() => `${window.sinew.tick()} ${window.sinew.digest()}`)));
  await eventually(both, ([a, b]) => a === b, 'the same tick and digest');
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
  await until(page, 'time', (t) => t > 3, 'it is lifted');
  const object = (list) => list.filter((g) => Math.abs(g.numbers[3] - 10) < 0.2 && g.numbers[4] > 5e-4 && g.numbers[5] > 1e3);
  await until(page, 'grips', (list) => object(list).length === 2, 'both fingers press with 10 N');
  const seen = async () => (await ask(page, 'screen', await ask(page, 'place', 'object')))[1];
  await eventually(seen, (y) => y > 0 && y < WIDE.height, 'the block is in the picture');
  await eventually(() => page.textContent('#strain-most'), (text) => text.endsWith('kPa'), 'the largest pressure is told');
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

test('50,000 surface triangles are shown, and the page tells its time for them', async () => {
  const big = await serve(fileURLToPath(new URL('big.toml', import.meta.url)), await freePort());
  const page = await open(browser, big.url, WIDE);
  const { applies } = await until(page, 'work', (work) => work.applies.length >= 20, 'frames come');
  const median = [...applies].sort((a, b) => a - b)[applies.length >> 1];
  console.log(`# ${await ask(page, 'triangles')} triangles: ${median.toFixed(1)} ms a frame`);
  assert.ok((await ask(page, 'triangles')) >= 49000);
  await page.close();
  await big.stop();
});

test('the page comes back after the server restarts', () => on('domino', async (page) => {
  await server.stop();
  await page.waitForFunction(() => !document.getElementById('note').hidden);
  server = await serve('stack', port);
  await until(page, 'scene', (name) => name === 'stack', 'it is there again');
  const tick = await ask(page, 'tick');
  await until(page, 'tick', (t) => t > tick, 'frames come');
  await page.locator('#note').waitFor({ state: 'hidden' });
}));

test('the token leaves the address bar, and a reload still gets in', async () => {
  const server = await serve('domino', await freePort(), '--host', '0.0.0.0');
  const page = await open(browser, server.url.replace('0.0.0.0', '127.0.0.1'));
  try {
    assert.match(server.url, /token=/);
    assert.doesNotMatch(page.url(), /token/);
    await page.reload();
    await page.waitForFunction(() => window.sinew?.tick() >= 0);
    assert.doesNotMatch(page.url(), /token/);
    assert.deepEqual(page.faults, []);
  } finally {
    await page.close();
    await server.stop();
  }
});
