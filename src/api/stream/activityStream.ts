/**
 * GET /api/v1/activity/stream: the events of /activity as server-sent events. A client first joins the hub, which
 * sends live events. It then gets the events that it missed from the tables, up to the current head. Live events
 * follow after them. This order leaves no gap and no duplicate.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import type { ActivityFilter } from '../../query/activity/activity';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { PoolNameReader } from '../../query/pairs/poolNames';
import type { Hub } from '../../stream/hub';
import { planReplay, replayPages, type ReplayPlan, type ReplayQuery } from '../../stream/replay';
import type { StreamClient, StreamSink } from '../../stream/streamClient';
import { parsePosition, RETRY_LINE, type StreamPosition } from '../../stream/streamMessage';
import type { TailLoop } from '../../stream/tailLoop';
import { ACTIVITY_FILTER_PARAMS, toActivityFilter } from '../activity/activity';
import { isExpected } from '../middleware/failureLog';
import { clientOf } from '../middleware/limitRate';
import { badParam, parsedParam, parseParams } from '../params';
import type { Route, RouteContext } from '../route';

/** Value of Retry-After in seconds for a client that is refused because there are too many streams. */
const RETRY_AFTER_S = '10';
/** Largest number of replays that read from the database in parallel. Further replays wait. */
const PARALLEL_REPLAYS_MAX = 6;

const POSITION_ALLOWED = '<block>-<log_index>, with or without -<first 8 hex digits of the block hash>';

const QUERY_PARAMS = {
  ...ACTIVITY_FILTER_PARAMS,
  last_event_id: parsedParam({
    parse: parsePosition,
    allowed: POSITION_ALLOWED,
    doc: { type: 'string', pattern: '^\\d+-\\d+(-[0-9a-fA-F]{8})?$', example: '17686110-42-9f3c01ab' },
    description:
      'Id of an event: the stream first replays all later events. The Last-Event-ID header overrides it',
  }),
};

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
  Connection: 'keep-alive',
} as const;

interface ActivityStreamDeps {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly poolNames: PoolNameReader;
  readonly tail: TailLoop;
  readonly hub: Hub;
  readonly log: Logger;
}

export function activityStream(deps: ActivityStreamDeps): Route {
  const limitReplays = createLimit(PARALLEL_REPLAYS_MAX);
  return {
    path: '/api/v1/activity/stream',
    doc: {
      summary: 'New events as server-sent events',
      tag: 'stream',
      description: DESCRIPTION,
      query: QUERY_PARAMS,
      mediaType: 'text/event-stream',
      errors: [400, 503],
    },
    async handle(ctx): Promise<void> {
      refusePipelined(ctx);
      const params = parseParams(QUERY_PARAMS, ctx);
      const position = readPosition(ctx, params.last_event_id);
      // Another API process may know a newer head, and the client's event id may come from there. So the head is
      // refreshed before the id is checked.
      if (position !== null) await deps.tail.refreshed(TIME_LIMITS.streamRefreshMs);
      if (ctx.method === 'HEAD') {
        startAnswer(ctx, requireHead(deps.tail));
        ctx.res.end();
        return;
      }
      const names = await deps.poolNames.at(requireHead(deps.tail));
      const filter = toActivityFilter(names.resolve(params));
      await openStream(deps, ctx, filter, position, limitReplays);
    },
  };
}

const DESCRIPTION =
  'A message has an `id` "<block>-<log_index>-<first 8 hex digits of the block hash>", an `event` ' +
  '(swap, mint, burn or sync) and the item of /activity as `data`. `event: reorg` has {from_block, ' +
  'to_block, removed_ids}: all blocks from from_block on are no longer part of the chain, and the events removed_ids are ' +
  'removed (null if the list is unknown). `event: gap` has {from_id, to_id}: the stream left out the ' +
  'events from from_id to to_id, both included. With the Last-Event-ID header or last_event_id, the ' +
  'stream first replays the later events, at most 10,000. An address (IPv6: a /64) may have 100 ' +
  'streams. A connection carries one stream; later requests on the same connection are not ' +
  'answered.';

/**
 * Refuses a stream that is requested on a connection with an unanswered request. A pipelined response waits
 * for the response before it, and a stream never ends. Node assigns the socket to a response when its turn
 * comes.
 */
function refusePipelined(ctx: RouteContext): void {
  if (ctx.res.socket !== null) return;
  throw new AppError(
    'bad_request',
    'an earlier request on this connection has no answer yet; open a new connection for the stream',
  );
}

/** The header that a reconnecting EventSource sends takes precedence over the parameter in its URL. */
function readPosition(ctx: RouteContext, parameter: StreamPosition | null): StreamPosition | null {
  const header = ctx.get('Last-Event-ID');
  if (header === '') return parameter;
  const position = parsePosition(header);
  if (position === null) throw badParam('Last-Event-ID', header, POSITION_ALLOWED);
  return position;
}

function requireHead(tail: TailLoop): HeadSnapshot {
  const head = tail.streamHead();
  if (head === null) throw new AppError('unavailable', 'no block is indexed yet');
  return head;
}

async function openStream(
  deps: ActivityStreamDeps,
  ctx: RouteContext,
  filter: ActivityFilter,
  position: StreamPosition | null,
  limitReplays: Limiter,
): Promise<void> {
  const { runner, chainId, poolNames, tail, hub, log } = deps;
  const head = requireHead(tail);
  if (ctx.res.destroyed) return giveUp(ctx);
  // There must be no await between reading the head and joining the hub, so that every later event reaches
  // the client live.
  const client = subscribe(hub, ctx, filter);
  endWithSocket(ctx, () => hub.remove(client));
  ctx.res.on('drain', () => client.drain());
  try {
    const query: ReplayQuery = { runner, chainId, poolNames, head, filter };
    const plan = position === null ? null : await limitReplays(() => planReplay(query, position));
    if (client.isEnded) return giveUp(ctx);
    startAnswer(ctx, head);
    void sendReplay(client, query, plan, limitReplays).catch((error: unknown) => {
      const facts = isExpected(error) ? { error: errorText(error) } : { err: error };
      log.warn(facts, 'replaying missed events to a client failed; its stream is closed');
      hub.remove(client);
    });
  } catch (error) {
    hub.remove(client);
    throw error;
  }
}

/**
 * Calls `remove` when the socket closes or the client half-closes it. The events of the response are not
 * enough: before its start it emits none, and if the client does not read, it never ends.
 */
function endWithSocket({ req, res }: RouteContext, remove: () => void): void {
  const { socket } = req;
  socket.once('end', remove);
  socket.once('close', remove);
  res.on('error', remove);
  res.once('close', () => {
    remove();
    socket.off('end', remove);
    socket.off('close', remove);
  });
}

/** The client closed the connection before the answer started. */
function giveUp(ctx: RouteContext): void {
  ctx.respond = false;
}

function subscribe(hub: Hub, ctx: RouteContext, filter: ActivityFilter): StreamClient {
  try {
    return hub.subscribe(filter, createSink(ctx.res, ctx.req.socket), clientOf(ctx.ip));
  } catch (error) {
    ctx.set('Retry-After', RETRY_AFTER_S);
    throw error;
  }
}

async function sendReplay(
  client: StreamClient,
  query: ReplayQuery,
  plan: ReplayPlan | null,
  limitReplays: Limiter,
): Promise<void> {
  await client.write(RETRY_LINE);
  if (plan !== null) {
    for (const message of plan.opening) await client.write(message.bytes);
    const pages = replayPages(query, plan.afterOrd);
    for (;;) {
      const nextPage = await limitReplays(() => pages.next());
      if (nextPage.done === true || !(await client.write(nextPage.value))) break;
    }
  }
  client.release();
}

function startAnswer(ctx: RouteContext, head: HeadSnapshot): void {
  // The stream writes to the socket directly, because it must see whether a client reads slowly.
  ctx.respond = false;
  ctx.status = 200;
  ctx.set(HEADERS);
  ctx.set('X-Indexed-Block', String(head.number));
  ctx.set('X-Indexed-Block-Hash', head.hash);
  ctx.req.socket.setTimeout(0);
  ctx.req.socket.setKeepAlive(true, 30_000);
  ctx.res.flushHeaders();
}

/** Until the headers are sent, the app can still answer with an error. */
function createSink(res: ServerResponse, socket: Socket): StreamSink {
  return {
    isGone: () => socket.destroyed,
    write: (bytes) => res.write(bytes),
    buffered: () => res.writableLength,
    end: () => {
      if (!res.headersSent) return;
      // Unread data would keep the connection open, so that a shutdown would wait forever.
      if (res.writableNeedDrain) res.destroy();
      else res.end();
    },
  };
}

type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs at most `tasksMax` tasks at once. Further tasks wait in order of arrival. The hub limits the number of
 * clients, and so this queue. */
function createLimit(tasksMax: number): Limiter {
  let runningTasks = 0;
  const waitingTasks: (() => void)[] = [];
  return async (work) => {
    if (runningTasks >= tasksMax) await new Promise<void>((resolve) => waitingTasks.push(resolve));
    else runningTasks += 1;
    try {
      return await work();
    } finally {
      const nextTask = waitingTasks.shift();
      if (nextTask === undefined) runningTasks -= 1;
      else nextTask();
    }
  };
}
