/**
 * A simulated node behind the interface of the real transports, used by the real endpoint pool, block source and
 * follower. Every answer takes virtual time, and each node draws its own faults.
 */
import { readResponse } from '../../../src/node/rpc/httpTransport';
import { kindOfHttpStatus, parseRetryAfter, RpcError } from '../../../src/node/rpc/rpcError';
import {
  readRpcAnswer,
  type HeadHint,
  type RpcAnswer,
  type RpcCall,
  type RpcTransport,
} from '../../../src/node/rpc/rpcTransport';
import type { Random } from '../../support/random';
import { answerCall, type NodeView } from './nodeAnswers';
import { lieAbout } from './nodeLies';
import { drawMood, GOOD_MOOD, type FleetHealth, type NodeMood, type NodeNature } from './nodeTraits';
import type { SimWorld } from './simWorld';
import type { RpcRefusal } from './wordings';

/** Time limit of a whole answer, in ms. */
const TIMEOUT_MS = 30_000;
/** Mean number of requests before the node's temporary state changes. */
const REQUESTS_PER_MOOD = 25;

interface SimNodeOptions {
  readonly index: number;
  readonly world: SimWorld;
  readonly random: Random;
  /** Draws when the quirks of the node show. */
  readonly quirkRandom: Random;
  readonly nature: NodeNature;
  readonly health: FleetHealth;
  readonly trace: (event: string) => void;
  /** Whether the node pushes heads. */
  readonly pushes: boolean;
  /** The node never answers wrongly and never gets stuck. The simulation needs one such node. */
  readonly honest: boolean;
}

type Message = { readonly result: unknown } | { readonly error: RpcRefusal };

export class SimTransport implements RpcTransport {
  readonly name: string;
  private mood: NodeMood = GOOD_MOOD;
  /** Whether failures are drawn for each call, and not for each request. */
  private failsCalls = false;
  private requestsUntilChange = 0;
  private isCalm = false;
  private isClosed = false;
  private watchers: ((hint: HeadHint | null) => void)[] = [];

  constructor(private readonly options: SimNodeOptions) {
    this.name = `#${options.index} sim`;
    if (options.pushes) this.watchHeads = (onHead) => this.addWatcher(onHead);
  }

  watchHeads?: (onHead: (hint: HeadHint | null) => void) => () => void;

  /** From now on the node answers without delay and correctly. */
  calmDown(): void {
    this.isCalm = true;
    this.failsCalls = false;
    this.mood = GOOD_MOOD;
  }

  /** Pushes the new head: once, sometimes twice or never. */
  announce(): void {
    const { random, world } = this.options;
    const times = this.isCalm ? 1 : random.pick([0, 1, 1, 1, 2]);
    const { number, hash } = world.chain.head;
    for (let i = 0; i < times; i += 1) for (const watcher of this.watchers) watcher({ number, hash });
  }

  async send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
    signal?.throwIfAborted();
    const { world, random, trace } = this.options;
    this.changeMood();
    const { clock } = world;
    trace(`${this.name} ${calls.length} ${calls[0]?.method} ${JSON.stringify(calls[0]?.params[0])}`);
    await clock.sleep(this.isCalm ? 1 : random.pick([1, 2, 5, 40]), signal);
    if (this.isClosed) throw new RpcError('network', `${this.name}: the transport is closed`);
    const faults = calls.map(() => this.drawFault());
    if (faults.includes('request') || (!this.failsCalls && random.chance(this.mood.failureChance)))
      await this.fail(signal);
    const { batchMax, quirks } = this.options.nature;
    if (calls.length > batchMax && !this.isCalm) {
      const message = random.pick(['batch too large', `batch size exceeds the limit of ${batchMax}`]);
      return this.read(calls.length, { error: { code: -32600, message } });
    }
    if (!this.isCalm && calls.length > 1 && this.options.quirkRandom.chance(quirks.batchLimitChance)) {
      world.noteQuirk('batches with HTTP 429');
      return this.read(calls.length, { error: { code: -32005, message: 'limit exceeded' } }, 429);
    }
    const messages = calls.map((call, index) => {
      const fault = faults[index] ?? null;
      return fault === null || fault === 'request' ? this.answer(call) : fault;
    });
    const answers = this.read(calls.length, this.withIds(messages));
    if (random.chance(this.mood.failureChance / 10)) {
      answers[answers.length - 1] = {
        error: new RpcError('bad_answer', `${this.name}: a batch's answer lacks a response`),
      };
    }
    return answers;
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.watchers = [];
    return Promise.resolve();
  }

  private addWatcher(onHead: (hint: HeadHint | null) => void): () => void {
    this.watchers.push(onHead);
    return () => {
      this.watchers = this.watchers.filter((watcher) => watcher !== onHead);
    };
  }

  private changeMood(): void {
    if (this.isCalm || (this.requestsUntilChange -= 1) > 0) return;
    const { random, world, health, honest } = this.options;
    this.requestsUntilChange = random.int(1, 2 * REQUESTS_PER_MOOD);
    this.failsCalls = this.options.quirkRandom.chance(0.5);
    const earlierHead = world.headAt(world.clock.now() - random.int(0, 20_000));
    const orphan =
      world.chain.canonicalView()[world.chain.block(earlierHead)!.number]?.hash === earlierHead
        ? null
        : earlierHead;
    this.mood = drawMood(random, honest ? { ...health, stuck: 0, lying: 0 } : health, orphan);
  }

  /** Draws the failure of one call: an error, no result, or a failure of the whole request. Null if it succeeds. */
  private drawFault(): Message | 'request' | null {
    const { random, quirkRandom, nature, world } = this.options;
    const rateLimitAnswer = { error: nature.rateWording };
    if (!this.failsCalls) return random.chance(this.mood.failureChance / 10) ? rateLimitAnswer : null;
    if (!quirkRandom.chance(this.mood.failureChance)) return null;
    world.noteQuirk('failures of single calls');
    const internalErrorAnswer = { error: { code: -32603, message: 'Internal error' } };
    return quirkRandom.pick<Message | 'request'>([
      rateLimitAnswer,
      internalErrorAnswer,
      { result: null },
      'request',
    ]);
  }

  /** Numbers the messages. A quirky node sends text, or gives a message the id of another call. */
  private withIds(messages: readonly Message[]): unknown {
    const { world, quirkRandom, nature } = this.options;
    const { hasTextIds, wrongIdChance } = nature.quirks;
    const ids: (number | string | null)[] = messages.map((_, id) => (hasTextIds ? String(id) : id));
    if (hasTextIds) world.noteQuirk('ids as text');
    if (!this.isCalm && quirkRandom.chance(wrongIdChance)) {
      world.noteQuirk('wrong ids');
      const lastIndex = messages.length - 1;
      ids[quirkRandom.int(0, lastIndex)] = quirkRandom.pick([
        null,
        lastIndex + 7,
        quirkRandom.int(0, lastIndex),
      ]);
    }
    const numbered = messages.map((message, messageIndex) => ({
      jsonrpc: '2.0',
      id: ids[messageIndex],
      ...message,
    }));
    return numbered.length === 1 ? numbered[0] : numbered;
  }

  private read(count: number, parsed: unknown, statusCode = 200): RpcAnswer[] {
    const response = { statusCode, headers: {} };
    return readResponse(asEndpoint(this.name), count, response, parsed, this.options.world.clock.now());
  }

  private answer(call: RpcCall): Message {
    const { world, random, nature } = this.options;
    const { mood } = this;
    const lagMs = mood.lagMs + (mood.spreadMs > 0 ? random.int(0, mood.spreadMs) : 0);
    const tip = mood.stuckAt ?? (lagMs === 0 ? world.head : world.headAt(world.clock.now() - lagMs));
    const view: NodeView = {
      world,
      nature,
      mood,
      branch: world.branch(tip),
      forgets: () => mood.forgetChance > 0 && random.chance(mood.forgetChance),
    };
    const answer = answerCall(view, call.method, call.params);
    if ('refusal' in answer) return { error: answer.refusal };
    const { result } = answer;
    if (mood.lieChance > 0 && random.chance(mood.lieChance))
      return { result: lieAbout(random, world.chain, call.method, result) };
    return { result };
  }

  /** Ends a request without a usable answer, in one of several ways. */
  private async fail(signal?: AbortSignal): Promise<never> {
    const { random, world, nature } = this.options;
    const httpError = (code: number, retryAfter?: string): RpcError =>
      new RpcError(kindOfHttpStatus(code), `${this.name}: HTTP ${code}`, {
        httpStatus: code,
        retryAfterMs: parseRetryAfter(retryAfter, world.clock.now()),
      });
    const kind = random.pick([
      'timeout',
      'reset',
      'json',
      '429',
      '429 later',
      '5xx',
      'refused',
      'rpc',
    ] as const);
    switch (kind) {
      case 'timeout':
        // The node sends nothing, or one byte at a time. In both cases the time limit of the real transports ends the
        // request.
        await world.clock.sleep(TIMEOUT_MS, signal);
        throw new RpcError('timeout', `${this.name}: no complete answer within ${TIMEOUT_MS} ms`);
      case 'reset':
        throw new RpcError(
          'network',
          `${this.name}: ${random.pick(['ECONNRESET', 'socket hang up', 'other side closed'])}`,
        );
      case 'json':
        throw new RpcError('bad_answer', `${this.name}: the answer is not JSON`);
      case '429':
        throw httpError(429);
      case '429 later':
        throw httpError(429, random.pick(['1', '7', '0.5', 'Thu, 01 Jan 1970 00:00:00 GMT']));
      case '5xx':
        throw httpError(random.pick([500, 502, 503, 504]));
      case 'refused':
        throw httpError(random.pick([401, 403, 404]));
      default:
        throw asError(this.name, nature.rateWording);
    }
  }
}

function asEndpoint(name: string) {
  return { name, scrub: (text: string) => text };
}

/** Uses the product's parser for error objects. */
function asError(name: string, error: { readonly code: number; readonly message: string }): RpcError {
  const answer = readRpcAnswer(asEndpoint(name), { error });
  if (!('error' in answer)) throw new Error('an error object was read as a result');
  return answer.error;
}
