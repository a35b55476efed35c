// A server of the built binary and a page in the system's Chromium. Nothing is downloaded, all is on loopback.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { chromium } from 'playwright-core';

const BINARY = process.env.SINEW_BIN;
const BROWSERS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function launch() {
  const executablePath = BROWSERS.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error('no Chromium: install it or name it in CHROMIUM');
  // a software picture: machines that test have no graphics card
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
  });
}

/** A port that is free now. */
export function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

/** Starts `sinew view`; resolves when it prints its address. */
export function serve(scene, port, ...more) {
  if (!BINARY) throw new Error('SINEW_BIN must name the built binary');
  const child = spawn(BINARY, ['view', scene, '--port', String(port), ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((done, fail) => {
    let told = '';
    const timer = setTimeout(() => fail(new Error(`no address: ${told}`)), 60000);
    child.stdout.on('data', (data) => {
      told += data;
      const found = /Open (http:\S+)/.exec(told);
      if (!found) return;
      clearTimeout(timer);
      const stop = () => new Promise((ended) => {
        child.once('exit', ended);
        child.kill('SIGKILL');
      });
      done({ url: found[1], stop });
    });
    child.once('error', fail);
  });
}

/** Opens the page and waits for the first frame. */
export async function open(browser, url, viewport = { width: 1280, height: 800 }) {
  const page = await browser.newPage({ viewport });
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.setDefaultTimeout(60000);
  await page.goto(url);
  await page.waitForFunction(() => window.sinew?.tick() >= 0);
  return page;
}

/** Asks the page. */
export const ask = (page, what, ...args) => page.evaluate(([w, a]) => {
  const found = window.sinew[w];
  return typeof found === 'function' ? found(...a) : found;
}, [what, args]);

/**
 * Looks again and again until what is seen passes, and returns it. Pictures and frames come late on a machine that is
 * slow or busy, so nothing here is looked at once after a fixed time.
 */
export async function eventually(look, test, why, limit = 60000) {
  const end = Date.now() + limit;
  let seen;
  do {
    seen = await look();
    if (test(seen)) return seen;
    await new Promise((next) => setTimeout(next, 50));
  } while (Date.now() < end);
  throw new Error(`${why}: seen ${String(JSON.stringify(seen)).slice(0, 200)}`);
}

/** Waits until the page answers so. */
export const until = (page, what, test, why, limit) => eventually(() => ask(page, what), test, `${why} (${what})`, limit);
