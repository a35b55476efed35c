// Keys. The help dialog lists them from this table.

import { by, type Controls } from './controls';
import { OVERLAYS } from './overlays';
import type { Connection } from './connection';
import type { Stage } from './stage';

export function listen(controls: Controls, connection: Connection, stage: Stage): void {
  const keys: [string, string, string, () => void][] = [
    ['Space', 'Space', 'Pause or go on', () => controls.pause()],
    ['ArrowRight', '→', 'One step', () => controls.step()],
    ['KeyR', 'R', 'Reset the scene', () => connection.tell({ command: 'reset' })],
    ['KeyS', 'S', 'Choose a scene', () => controls.pick()],
    ['KeyH', 'H', 'Camera to its start', () => stage.goHome()],
    ['KeyC', 'C', 'Show or hide the charts', () => controls.tab('charts')],
    ...OVERLAYS.map((o): [string, string, string, () => void] => [`Digit${o.key}`, o.key, o.label, () => controls.switchOverlay(o.name)]),
    ['Slash', '?', 'This help', () => controls.help()],
  ];
  by('keys').replaceChildren(
    ...keys.flatMap(([, key, what]) => {
      const [term, text] = [document.createElement('dt'), document.createElement('dd')];
      const cap = document.createElement('kbd');
      cap.textContent = key;
      term.append(cap);
      text.textContent = what;
      return [term, text];
    }),
  );
  addEventListener('keydown', (event) => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // a slider keeps its arrows, a button its space
    if (target instanceof HTMLInputElement && event.code.startsWith('Arrow')) return;
    if (target instanceof HTMLElement && target.closest('button, dialog') && ['Space', 'Enter'].includes(event.code)) return;
    const found = keys.find(([code]) => code === event.code) ?? (event.key === '?' ? keys[keys.length - 1] : undefined);
    if (!found) return;
    event.preventDefault();
    found[3]();
  });
}
