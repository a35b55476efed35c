// The talk with the server: connects, connects again when it was lost, and passes on what is said.

import { type Frame, type Order, PROTOCOL, type Said, type Scene, type Status, readFrame } from './protocol';

export interface Listener {
  scene(scene: Scene): void;
  status(status: Status): void;
  frame(frame: Frame): void;
  /** Something for people to read; empty when all is well. */
  note(text: string): void;
}

/**
 * The token of the address, for servers that other machines can reach. It leaves the address bar at once: there it would
 * get into bookmarks, screenshots and histories. The storage of this tab keeps it for a reload.
 */
export function takeToken(): string | null {
  const query = new URLSearchParams(location.search);
  const token = query.get('token');
  if (token === null) return sessionStorage.getItem('token');
  sessionStorage.setItem('token', token);
  query.delete('token');
  const rest = query.toString();
  history.replaceState(history.state, '', `${location.pathname}${rest && `?${rest}`}${location.hash}`);
  return token;
}

/** Shortest and longest wait before another try [ms]. */
const WAIT = [500, 4000];

export class Connection {
  /** Number that the server gave us. */
  viewer = -1;
  private socket?: WebSocket;
  private wait = WAIT[0];
  private readonly token = takeToken();
  private readonly onOpen: (() => void)[] = [];

  constructor(private readonly listener: Listener) {
    this.connect();
  }

  get open(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Said again after every reconnect. */
  always(say: () => void): void {
    this.onOpen.push(say);
    if (this.open) say();
  }

  tell(order: Order): void {
    if (this.open) this.socket?.send(JSON.stringify(order));
  }

  private connect(): void {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const query = this.token ? `?token=${encodeURIComponent(this.token)}` : '';
    const socket = new WebSocket(`${scheme}://${location.host}/socket${query}`);
    this.socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.wait = WAIT[0];
      this.listener.note('');
      for (const say of this.onOpen) say();
    };
    socket.onmessage = ({ data }) => this.hear(data as string | ArrayBuffer);
    socket.onclose = () => {
      this.listener.note('No connection to the server. Trying again…');
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, WAIT[1]);
    };
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== 'string') {
      const frame = readFrame(data);
      if (frame) this.listener.frame(frame);
      return;
    }
    const said = JSON.parse(data) as Said;
    if (said.kind === 'you') this.viewer = said.viewer;
    else if (said.kind === 'refused') this.listener.note(`Refused: ${said.why}`);
    else if (said.kind === 'status') this.listener.status(said);
    else if (said.protocol !== PROTOCOL) location.reload();
    else this.listener.scene(said);
  }
}
