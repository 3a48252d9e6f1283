/** A plain client of server-sent events over HTTP. It can stop reading, disconnect, and resume with its last id. */
import { get, type ClientRequest, type IncomingMessage } from 'node:http';

interface SseMessage {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export class SseClient {
  readonly messages: SseMessage[] = [];
  readonly comments: string[] = [];
  status: number | null = null;
  headers: IncomingMessage['headers'] = {};
  body = '';
  retry: string | null = null;
  ended = false;
  lastId: string | null;
  private request: ClientRequest | null = null;
  private response: IncomingMessage | null = null;
  private rest = '';
  private waiters: (() => void)[] = [];

  constructor(
    private readonly url: string,
    lastId: string | null = null,
  ) {
    this.lastId = lastId;
  }

  /** Connects and resolves when the headers have arrived. */
  connect(): Promise<this> {
    const headers = this.lastId === null ? {} : { 'last-event-id': this.lastId };
    return new Promise((resolve, reject) => {
      this.ended = false;
      this.rest = '';
      this.request = get(this.url, { headers, agent: false }, (response) => {
        this.response = response;
        this.status = response.statusCode ?? null;
        this.headers = response.headers;
        response.setEncoding('utf8');
        response.on('data', (text: string) => this.take(text));
        response.on('close', () => {
          this.ended = true;
          this.wake();
        });
        response.on('error', () => undefined);
        resolve(this);
      });
      this.request.on('error', reject);
    });
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.response?.pause();
  }

  resume(): void {
    this.response?.resume();
  }

  close(): void {
    this.request?.destroy();
    this.response = null;
  }

  /** Resolves when the condition is true. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50);
        this.waiters.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
  }

  /** Waits for at least `count` messages and returns the `event id` lines of all. */
  async atLeast(count: number): Promise<string[]> {
    await this.until(() => this.messages.length >= count);
    return this.lines();
  }

  lines(): string[] {
    return this.messages.map((message) => `${message.event} ${message.id.split('-').slice(0, 2).join('-')}`);
  }

  private take(text: string): void {
    if (this.status !== 200) {
      this.body += text;
      return;
    }
    this.rest += text;
    const blocks = this.rest.split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) this.takeBlock(block);
    this.wake();
  }

  private takeBlock(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments.push(line);
      else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2));
    }
    const retry = fields.get('retry');
    if (retry !== undefined) this.retry = retry;
    const data = fields.get('data');
    if (data === undefined) return;
    const id = fields.get('id');
    if (id !== undefined) this.lastId = id;
    this.messages.push({ id: id ?? '', event: fields.get('event') ?? 'message', data: JSON.parse(data) });
  }

  private wake(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }
}
