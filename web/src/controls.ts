// Panels: run buttons, scene picker, sliders, switches. They show what the server says, not what was clicked.

import type { Connection } from './connection';
import { type Name, OVERLAYS, type Overlays } from './overlays';
import type { Knob, Run, Scene, Status } from './protocol';

export const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

/** Orders of a slider are sent at most so often [ms]. */
const PACE = 60;

interface Slider {
  knob: Knob;
  input: HTMLInputElement;
  output: HTMLOutputElement;
  /** When a hand was last on it: what the server says does not move it then. */
  touched: number;
}

export class Controls {
  paused = false;
  private sliders = new Map<string, Slider>();
  private readonly speed: Slider;
  private waiting = new Map<string, number>();

  constructor(
    private readonly connection: Connection,
    private readonly overlays: Overlays,
    private readonly onLayers: () => void,
  ) {
    by('pause').onclick = () => this.pause();
    by('step').onclick = () => this.step();
    by('reset').onclick = () => connection.tell({ command: 'reset' });
    by('pick').onclick = () => this.pick();
    by('help-open').onclick = () => this.help();
    for (const dialog of document.querySelectorAll('dialog'))
      dialog.onclick = (event) => event.target === dialog && dialog.close();
    const knob: Knob = { name: 'speed', label: 'Speed', about: '', unit: '×', low: 0.0625, high: 4, whole: false, logarithmic: true };
    this.speed = this.slider(knob, (value) => connection.tell({ command: 'speed', value }));
    by('speed').append(this.speed.input.parentElement as HTMLElement);
    by('switches').append(...OVERLAYS.map((o) => this.toggle(o.name, o.label, o.key)));
    for (const tab of document.querySelectorAll<HTMLButtonElement>('#tabs button')) tab.onclick = () => this.tab(tab.value);
    setInterval(() => this.flush(), PACE);
  }

  /** On a narrow window one panel is open at a time; the open one closes. */
  tab(name: string): void {
    const { body } = document;
    body.dataset.tab = body.dataset.tab === name ? '' : name;
    for (const tab of document.querySelectorAll<HTMLButtonElement>('#tabs button'))
      tab.setAttribute('aria-pressed', String(tab.value === body.dataset.tab));
    dispatchEvent(new Event('resize'));
  }

  pause(): void {
    this.connection.tell({ command: 'pause', on: !this.paused });
  }

  step(): void {
    if (!this.paused) this.pause();
    this.connection.tell({ command: 'step' });
  }

  help(): void {
    const dialog = by<HTMLDialogElement>('help');
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  pick(): void {
    const dialog = by<HTMLDialogElement>('picker');
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  switchOverlay(name: Name): void {
    const input = by<HTMLInputElement>(`overlay-${name}`);
    input.checked = !input.checked;
    input.dispatchEvent(new Event('change'));
  }

  private toggle(name: Name, label: string, key: string): HTMLElement {
    const row = document.createElement('label');
    row.className = 'switch';
    const input = document.createElement('input');
    Object.assign(input, { type: 'checkbox', id: `overlay-${name}` });
    input.onchange = () => {
      this.overlays.toggle(name, input.checked);
      // one switch may turn another off
      for (const o of OVERLAYS) by<HTMLInputElement>(`overlay-${o.name}`).checked = this.overlays.on.has(o.name);
      by('strain-legend').hidden = !this.overlays.on.has('strain') && !this.overlays.on.has('pressure');
      this.onLayers();
    };
    const hint = document.createElement('kbd');
    hint.textContent = key;
    row.append(input, label, hint);
    return row;
  }

  private slider(knob: Knob, tell: (value: number) => void): Slider {
    const row = document.createElement('label');
    row.className = 'slider';
    const [input, output] = [document.createElement('input'), document.createElement('output')];
    const [low, high] = knob.logarithmic ? [Math.log(knob.low), Math.log(knob.high)] : [knob.low, knob.high];
    Object.assign(input, { type: 'range', min: String(low), max: String(high), step: knob.whole ? '1' : String((high - low) / 200) });
    input.name = knob.name;
    const slider: Slider = { knob, input, output, touched: 0 };
    input.oninput = () => {
      slider.touched = performance.now();
      const place = Number(input.value);
      const value = knob.logarithmic ? Math.exp(place) : place;
      this.say(slider, value);
      tell(Math.min(Math.max(value, knob.low), knob.high));
    };
    const name = document.createElement('span');
    name.textContent = knob.label;
    row.title = knob.about;
    row.append(name, output, input);
    return slider;
  }

  private say({ knob, output }: Slider, value: number): void {
    output.textContent = `${Number(value.toPrecision(3))} ${knob.unit}`.replace('-', '−');
  }

  private place(slider: Slider, value: number): void {
    if (performance.now() - slider.touched < 600) return;
    slider.input.value = String(slider.knob.logarithmic ? Math.log(value) : value);
    this.say(slider, value);
  }

  private flush(): void {
    for (const [knob, value] of this.waiting) this.connection.tell({ command: 'tune', knob, value });
    this.waiting.clear();
  }

  scene(scene: Scene): void {
    by('name').textContent = scene.name;
    by('about').textContent = scene.about;
    document.title = `${scene.name} · Sinew`;
    this.sliders = new Map(scene.knobs.map((knob) => [knob.name, this.slider(knob, (value) => this.waiting.set(knob.name, value))]));
    by('knobs').replaceChildren(...[...this.sliders.values()].map((s) => s.input.parentElement as HTMLElement));
    by('cards').replaceChildren(...scene.scenes.map((s) => this.card(s, s.name === scene.name)));
  }

  private card(scene: Scene['scenes'][number], current: boolean): HTMLElement {
    const card = document.createElement('button');
    card.className = 'card';
    card.setAttribute('aria-pressed', String(current));
    const [picture, name, about] = [document.createElement('div'), document.createElement('b'), document.createElement('span')];
    picture.className = 'thumb';
    if (scene.thumb) picture.style.backgroundImage = `url("./thumbs/${encodeURIComponent(scene.name)}.png")`;
    else picture.textContent = scene.name.slice(0, 2);
    [name.textContent, about.textContent] = [scene.name, scene.about];
    card.append(picture, name, about);
    card.onclick = () => {
      this.connection.tell({ command: 'scene', name: scene.name });
      by<HTMLDialogElement>('picker').close();
    };
    return card;
  }

  status(status: Status): void {
    this.paused = status.paused;
    by('pause').textContent = status.paused ? 'Play' : 'Pause';
    document.body.classList.toggle('paused', status.paused);
    this.place(this.speed, status.speed);
    for (const [name, value] of Object.entries(status.knobs)) {
      const slider = this.sliders.get(name);
      if (slider) this.place(slider, value);
    }
    this.note(status.message);
  }

  note(text: string): void {
    by('note').textContent = text;
    by('note').hidden = text === '';
  }

  run(run: Run, pictures: number): void {
    const behind = !this.paused && run.realTimeFactor < 0.95 * Math.exp(Number(this.speed.input.value));
    by('factor').textContent = this.paused ? 'paused' : `${run.realTimeFactor.toFixed(2)}× real time`;
    by('factor').classList.toggle('behind', behind);
    by('factor').title = behind ? 'The machine cannot keep up with the asked speed' : 'Simulated seconds in a second';
    const viewers = run.viewers > 1 ? ` · ${run.viewers} viewers` : '';
    by('status').textContent = `t = ${run.time.toFixed(2)} s · step ${run.stepMs.toFixed(2)} ms of ${run.budgetMs.toFixed(1)} ms · ${pictures} pictures/s${viewers}`;
  }
}
