// Pictures of the page for people to look at: node shots.mjs FOLDER
import { mkdirSync } from 'node:fs';
import { freePort, launch, open, serve, until } from './harness.mjs';

const folder = process.argv[2] ?? 'shots';
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const scene of (process.argv[3] ?? 'pudding,drape,ropes,chain,pyramid,mixed-particles').split(',')) {
  const server = await serve(scene, await freePort());
  const page = await open(browser, server.url);
  await page.waitForTimeout(3500);
  await page.screenshot({ path: `${folder}/${scene}.png` });
  if (scene === 'pudding') {
    for (const name of ['tetrahedra', 'contacts', 'phyxels']) await page.check(`#overlay-${name}`);
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `${folder}/${scene}-overlays.png` });
    for (const name of ['tetrahedra', 'phyxels']) await page.uncheck(`#overlay-${name}`);
    await page.check('#overlay-strain');
    await page.check('#overlay-surfels');
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `${folder}/${scene}-strain.png` });
    await page.click('#pick');
    await page.waitForTimeout(300);
    await page.screenshot({ path: `${folder}/picker.png` });
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.waitForTimeout(300);
    await page.screenshot({ path: `${folder}/help.png` });
    const phone = await open(browser, server.url, { width: 390, height: 844 });
    await phone.waitForTimeout(1000);
    await phone.screenshot({ path: `${folder}/phone.png` });
    for (const tab of ['controls', 'overlays', 'charts']) {
      await phone.click(`#tabs button[value=${tab}]`);
      await phone.waitForTimeout(1200);
      await phone.screenshot({ path: `${folder}/phone-${tab}.png` });
    }
    await phone.close();
  }
  console.log(scene, page.faults, await page.evaluate(() => JSON.stringify([window.sinew.work, window.sinew.triangles()])));
  await page.close();
  await server.stop();
}
await browser.close();
