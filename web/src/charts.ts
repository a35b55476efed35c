// Live charts, drawn on canvases: lines or stacked bands over the last seconds, or the residual of the last step's sweeps.

import type { Body, Frame, Grip } from './protocol';

/** Samples that are kept. */
const LENGTH = 300;
const PHASES = ['#577590', '#43aa8b', '#90be6d', '#f9c74f', '#f8961e', '#f3722c', '#b56576', '#6d597a', '#4d908e', '#277da1'];

/** Entries of the ledger that are one line of the chart, by their index. */
const CAUSES = [
  { label: 'work', colour: '#3d87b8', entries: [3, 4, 5, 6, 7, 8, 9] },
  { label: 'friction', colour: '#e07a5f', entries: [10] },
  { label: 'impacts', colour: '#d1495b', entries: [11, 14] },
  { label: 'damping, plasticity', colour: '#6a9c5b', entries: [12, 13] },
  { label: 'numerical', colour: '#9b6fb0', entries: [15, 16, 17, 18] },
  { label: 'unexplained', colour: '#c81d25', entries: [19] },
];

interface Series {
  label: string;
  colour: string;
  values: Float32Array;
}

/** A chart of values over time. */
class Chart {
  private readonly context: CanvasRenderingContext2D;
  private readonly legend: HTMLElement;
  private readonly series: Series[];
  private count = 0;
  private scale = 1;

  constructor(
    readonly element: HTMLElement,
    private readonly kind: 'lines' | 'bands' | 'steps',
    labels: [string, string][],
    private readonly unit: string,
  ) {
    const canvas = document.createElement('canvas');
    this.legend = document.createElement('p');
    this.legend.className = 'legend';
    element.append(canvas, this.legend);
    this.context = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.series = labels.map(([label, colour]) => ({ label, colour, values: new Float32Array(LENGTH) }));
  }

  push(values: number[]): void {
    const at = this.count % LENGTH;
    this.series.forEach((s, k) => (s.values[at] = Number.isFinite(values[k]) ? values[k] : 0));
    this.count++;
  }

  clear(): void {
    this.count = 0;
  }

  /** Samples taken since the scene began. */
  get samples(): number {
    return this.count;
  }

  /** Draws all samples; `limit` is a line across. */
  draw(limit?: number): void {
    const { width, height } = this.prepare();
    const shown = Math.min(this.count, LENGTH);
    const value = (s: Series, i: number) => s.values[(this.count - shown + i) % LENGTH];
    let [low, high] = [0, limit ?? 0];
    for (let i = 0; i < shown; i++) {
      let sum = 0;
      for (const s of this.series) {
        sum += value(s, i);
        if (this.kind === 'lines') [low, high] = [Math.min(low, value(s, i)), Math.max(high, value(s, i))];
      }
      if (this.kind === 'bands') high = Math.max(high, sum);
    }
    const most = Math.max(high, -low);
    this.scale = most > 1e-9 ? nice(most) : 1;
    const bottom = low < 0 ? -this.scale : 0;
    const y = (v: number) => height - 2 - ((v - bottom) / (this.scale - bottom)) * (height - 6);
    const x = (i: number) => ((LENGTH - shown + i) / (LENGTH - 1)) * width;
    this.axis(width, y(0));
    const floor = new Float32Array(shown);
    for (const s of this.series) this.trace(s, shown, x, y, value, floor);
    if (limit !== undefined) this.across(width, y(limit));
    this.name(height);
    this.tell(shown);
  }

  private trace(
    s: Series, shown: number, x: (i: number) => number, y: (v: number) => number,
    value: (s: Series, i: number) => number, floor: Float32Array,
  ): void {
    const c = this.context;
    c.beginPath();
    if (this.kind === 'bands') {
      for (let i = 0; i < shown; i++) c.lineTo(x(i), y(floor[i] + value(s, i)));
      for (let i = shown - 1; i >= 0; i--) c.lineTo(x(i), y(floor[i]));
      for (let i = 0; i < shown; i++) floor[i] += value(s, i);
      c.fillStyle = s.colour;
      c.fill();
    } else {
      for (let i = 0; i < shown; i++) c.lineTo(x(i), y(value(s, i)));
      c.strokeStyle = s.colour;
      c.lineWidth = 1.5;
      c.stroke();
    }
  }

  /** One line over the sweeps of a step, by powers of ten. */
  drawSteps(values: Float32Array, note: string): void {
    const { width, height } = this.prepare();
    this.count += values.length > 0 ? 1 : 0;
    const c = this.context;
    const logs = Array.from(values, (v) => Math.log10(Math.max(v, 1e-12)));
    const high = Math.ceil(Math.max(...logs, -6));
    const low = Math.min(Math.floor(Math.min(...logs)), high - 2);
    c.beginPath();
    logs.forEach((v, i) => c.lineTo(logs.length > 1 ? (i / (logs.length - 1)) * width : width / 2, height - 2 - ((v - low) / (high - low)) * (height - 6)));
    c.strokeStyle = this.series[0].colour;
    c.lineWidth = 1.5;
    c.stroke();
    c.fillStyle = getComputedStyle(this.element).getPropertyValue('--faint');
    if (values.length > 0) c.fillText(`1e${high} ${this.unit}`, 3, 10);
    this.legend.textContent = values.length > 0 ? `${values.length} sweeps, last ${values[values.length - 1].toExponential(1)} ${this.unit}` : note;
  }

  private prepare(): { width: number; height: number } {
    const { canvas } = this.context;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.context.font = '10px system-ui, sans-serif';
    return { width, height };
  }

  private axis(width: number, at: number): void {
    this.context.fillStyle = getComputedStyle(this.element).getPropertyValue('--line');
    this.context.fillRect(0, at, width, 1);
  }

  private across(width: number, at: number): void {
    const c = this.context;
    c.setLineDash([4, 3]);
    c.beginPath();
    c.moveTo(0, at);
    c.lineTo(width, at);
    c.strokeStyle = '#c81d25';
    c.lineWidth = 1;
    c.stroke();
    c.setLineDash([]);
  }

  private name(height: number): void {
    this.context.fillStyle = getComputedStyle(this.element).getPropertyValue('--faint');
    this.context.fillText(`${short(this.scale)} ${this.unit}`, 3, 10);
    void height;
  }

  private tell(shown: number): void {
    if (shown === 0) return;
    const at = (this.count - 1) % LENGTH;
    const shownSeries = this.kind === 'bands' ? [...this.series].sort((a, b) => b.values[at] - a.values[at]).slice(0, 3) : this.series;
    this.legend.replaceChildren(
      ...shownSeries.map((s) => {
        const item = document.createElement('span');
        item.style.setProperty('--colour', s.colour);
        item.textContent = `${s.label} ${short(s.values[at])}`;
        return item;
      }),
    );
  }
}

/** The least of 1, 2, 5 times a power of ten that is not below a value. */
function nice(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((k) => k * power >= value * 0.999) ?? 10);
}

function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000 || (size > 0 && size < 0.01)) return value.toExponential(1);
  return size >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
}

export class Charts {
  private readonly time: Chart;
  private readonly energy: Chart;
  private readonly ledger: Chart;
  private readonly residual: Chart;
  private readonly rows: Chart;
  private readonly force: Chart;
  private readonly table = document.createElement('section');
  private tick = -1;

  constructor(root: HTMLElement, phases: string[]) {
    const box = (title: string) => {
      const element = document.createElement('section');
      element.className = 'chart';
      const heading = document.createElement('h3');
      heading.textContent = title;
      element.append(heading);
      root.append(element);
      return element;
    };
    root.replaceChildren(this.table);
    this.table.className = 'chart';
    this.table.id = 'grips';
    this.table.hidden = true;
    this.time = new Chart(box('Step time by phase, budget dashed'), 'bands', phases.map((p, k) => [p, PHASES[k]]), 'ms');
    this.energy = new Chart(box('Energy'), 'lines', [['kinetic', '#d1495b'], ['of place', '#3d87b8'], ['elastic', '#6a9c5b'], ['sum', '#8d99a6']], 'J');
    this.ledger = new Chart(box('Energy since the start, by cause'), 'lines', CAUSES.map(({ label, colour }) => [label, colour]), 'J');
    this.rows = new Chart(box('Constraints'), 'lines', [['contact rows', '#e07a5f'], ['other rows', '#3d87b8'], ['contacts', '#6a9c5b']], '');
    this.residual = new Chart(box('Residual per iteration'), 'steps', [['residual', '#9b6fb0']], 'N·s');
    this.force = new Chart(box('Force on the grabbed point'), 'lines', [['force', '#c81d25']], 'N');
  }

  clear(): void {
    for (const chart of [this.time, this.energy, this.ledger, this.residual, this.rows, this.force]) chart.clear();
    this.tick = -1;
  }

  get samples(): number {
    return this.time.samples;
  }

  push(frame: Frame, viewer: number): void {
    const { run } = frame;
    if (!run || frame.tick === this.tick) return;
    this.tick = frame.tick;
    this.time.push(Array.from(run.phases));
    const elastic = Number.isFinite(run.elastic) ? run.elastic : 0;
    this.energy.push([run.kinetic, run.gravity, elastic, run.kinetic + run.gravity + elastic]);
    this.ledger.push(CAUSES.map(({ entries }) => entries.reduce((sum, k) => sum + (frame.ledger[k] ?? 0), 0)));
    this.rows.push([run.contactRows, run.constraintRows, run.contacts]);
    const mine = frame.held.find((h) => h.viewer === viewer)?.numbers;
    this.force.push([mine ? Math.hypot(mine[6], mine[7], mine[8]) : 0]);
  }

  /** What soft bodies do to others, in numbers; nothing hides the table. */
  grip(grips: Grip[] | undefined, bodies: Body[]): void {
    this.table.hidden = grips === undefined;
    if (!grips) return;
    const name = (slot: number) => bodies.find((b) => b.slot === slot)?.name || `body ${slot}`;
    const line = (...cells: string[]) => {
      const row = document.createElement('tr');
      row.append(...cells.map((text) => Object.assign(document.createElement('td'), { textContent: text })));
      return row;
    };
    const [heading, table] = [document.createElement('h3'), document.createElement('table')];
    heading.textContent = grips.length > 0 ? 'Grip: force, area, peak' : 'Grip: nothing is pressed';
    for (const { finger, object, numbers } of grips.slice(0, 8))
      table.append(line(`${name(finger)} on ${name(object)}`, `${short(numbers[3])} N`, `${short(1e4 * numbers[4])} cm²`, `${short(1e-3 * numbers[5])} kPa`));
    this.table.replaceChildren(heading, table);
  }

  draw(frame: Frame): void {
    const { run } = frame;
    if (!run) return;
    this.time.draw(run.budgetMs);
    this.energy.draw();
    this.ledger.draw();
    this.rows.draw();
    this.residual.drawSteps(frame.residuals, run.iterations > 0 ? `no sweeps: ${run.iterations} CG iterations in implicit islands` : 'no rows are swept');
    this.force.draw();
  }
}
