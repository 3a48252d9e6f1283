/** Shared setup of the chain tests: nodes that are stopped after each test, endpoint pools, a silent log. */
import { systemClock, type Clock } from '../../../src/node/rpc/clock';
import { createLog } from '../../../src/log';
import {
  createEndpointPool,
  type EndpointPool,
  type UrlPoolOptions,
} from '../../../src/node/rpc/endpointPool';
import {
  createBlockSource,
  type BlockSource,
  type BlockSourceOptions,
} from '../../../src/node/blocks/blockSource';
import { FakeChain } from '../../support/node/fakeChain';
import { FakeNode } from '../../support/node/fakeNode';

export const silentLog = createLog('silent', false);

/** A time limit that never passes in a test. */
export const ENDLESS_MS = 600_000;

/** A clock on which no time limit passes. */
export const endlessClock: Clock = {
  ...systemClock(),
  sleep: (_ms, signal) => systemClock().sleep(ENDLESS_MS, signal),
};

/** A clock that skips pauses. The time limit of a transport never passes. */
export function skippingClock(): Clock {
  const { sleep, ...rest } = systemClock();
  let skippedMs = 0;
  return {
    ...rest,
    now: () => skippedMs,
    sleep: async (ms, signal) => {
      if (ms >= ENDLESS_MS) return sleep(ms, signal);
      skippedMs += ms;
    },
  };
}

const closers: (() => Promise<void>)[] = [];

/** Call this in `afterEach`. Stops everything that the test started, pools first. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export function closeLater(close: () => Promise<void>): void {
  closers.push(close);
}

export async function startNode(chain: FakeChain = new FakeChain(1), chainId = 369): Promise<FakeNode> {
  const node = await new FakeNode({ chain, chainId }).start();
  closers.push(() => node.stop());
  return node;
}

export function poolOf(urls: readonly string[], options: Partial<UrlPoolOptions> = {}): EndpointPool {
  const pool = createEndpointPool({ chainId: 369, log: silentLog, timeoutMs: ENDLESS_MS, ...options, urls });
  closers.push(() => pool.close());
  return pool;
}

export function sourceOf(
  nodes: readonly FakeNode[],
  options: Partial<UrlPoolOptions> = {},
  sourceOptions: Partial<BlockSourceOptions> = {},
): { pool: EndpointPool; source: BlockSource } {
  const pool = poolOf(
    nodes.map((node) => node.httpUrl),
    options,
  );
  return { pool, source: createBlockSource({ pool, log: silentLog, ...sourceOptions }) };
}
