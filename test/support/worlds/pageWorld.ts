/** The setup of the web page tests: the built program on a development chain, and its API for comparison. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import { startDevChain } from '../../../src/dev/devChain';
import { getBlockHead, openDevRpc } from '../../../src/dev/node/devRpc';
import { createLog } from '../../../src/log';
import { barShape, type Bar } from '../../../src/wire/ticks';
import { runToSuccess, startProgram, type Program } from '../server/program';
import { eventually } from '../eventually';

const listShape = z.object({ data: z.array(z.looseObject({ address: z.string() })) });
const ticksShape = z.object({
  data: z.array(barShape),
  meta: z.looseObject({ next_to: z.number().nullable() }),
});
const activityShape = z.object({ data: z.array(z.looseObject({ maker: z.string().nullable() })) });

const portfolioShape = z.object({ data: z.looseObject({ tokens: z.array(z.unknown()) }) });

const operationShape = z.looseObject({
  parameters: z.array(z.looseObject({ name: z.string() })).default([]),
});
const openapiShape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

export interface PageWorld {
  readonly url: string;
  /** Address of the node. */
  readonly nodeUrl: string;
  /** The pair with the most trades, and its base token. */
  readonly pair: string;
  readonly token: string;
  /** An address that has traded and holds tokens. */
  readonly wallet: string;
  json(path: string): Promise<unknown>;
  /**
   * Runs `compare` on a chain at rest: the trader mines no block meanwhile, and the API has the newest block. The page may
   * still be some blocks behind.
   */
  still<T>(compare: () => Promise<T>): Promise<T>;
  /** Addresses of a list, in the API's order. */
  addresses(path: string): Promise<string[]>;
  /** All bars of a pair, by paging back to the oldest one. */
  wholeSeries(path: string): Promise<Bar[]>;
  /** Each path of the OpenAPI document with the names of its parameters. */
  openapi(): Promise<
    { readonly path: string; readonly method: string; readonly parameters: readonly string[] }[]
  >;
  /** Imports verified sources from a folder in the layout of Sourcify's repository. */
  importSources(folder: string): Promise<void>;
  /** Ends the trader and the node. The program goes on without a node. */
  stopNode(): Promise<void>;
  stop(): Promise<void>;
}

/** A short history: some hundred one-minute bars in the pair with the most trades. */
const SWAPS = 6_000;
const DAYS = 3;
/** Half the usual pace: several browsers and programs share the machine. */
const PACE = { blockMs: 4_000, tradesPerBlock: 8 };

export interface PageWorldOptions {
  readonly swaps: number;
  readonly days: number;
  /** The pace of the trader. */
  readonly live: NonNullable<Parameters<typeof startDevChain>[0]['live']>;
}

/**
 * Starts a development chain with a trader that keeps trading, and the built program that ingests and serves the chain.
 */
export async function startPageWorld({
  swaps = SWAPS,
  days = DAYS,
  live = {},
}: Partial<PageWorldOptions> = {}): Promise<PageWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-page-'));
  const log = createLog('silent', false);
  // Stop functions, called in reverse order, also when a later start fails.
  const stops: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of stops.reverse()) await end();
  };
  try {
    const inTurn = createTurns();
    const pace = { ...PACE, ...live, runBlockWork: inTurn };
    const chain = await startDevChain({ dataDir: folder, log, swaps, days, live: pace });
    stops.push(() => chain.stop());
    const settings = {
      RPC_URL: chain.wsUrl,
      CHAIN_CONFIG: chain.chainConfigPath,
      START_BLOCK: '0',
      DATA_DIR: join(folder, 'data'),
      RATE_LIMIT_PER_MINUTE: '0',
    };
    const program = await startProgram('all', settings);
    stops.push(async () => void (await program.end('SIGTERM')));
    return {
      ...(await describeWorld(program)),
      nodeUrl: chain.url,
      still: (compare) =>
        inTurn(async () => {
          await untilAtHead(program, chain.url);
          return compare();
        }),
      importSources: async (from) => void (await runToSuccess(['import-sources', from], settings)),
      stopNode: () => chain.stop(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs works one after the other. */
function createTurns(): Turns {
  let lastTurn: Promise<unknown> = Promise.resolve();
  return (work) => {
    const ownTurn = lastTurn.then(work);
    lastTurn = ownTurn.catch(() => undefined);
    return ownTurn;
  };
}

/** Waits until the API has the newest block of the node. */
async function untilAtHead(program: Program, nodeUrl: string): Promise<void> {
  const rpc = openDevRpc(nodeUrl);
  const { hash } = await getBlockHead(rpc);
  await rpc.close();
  const readShownHash = async (): Promise<string | null> => {
    if (program.hasEnded()) throw new Error(program.lastWords());
    const answer = await fetch(`${program.url}/readyz`);
    await answer.arrayBuffer();
    return answer.headers.get('x-indexed-block-hash');
  };
  await eventually(readShownHash, (shownHash) => shownHash === hash);
}

/** The first of the addresses that holds a token. Some traders pay through a contract and hold only the native coin. */
async function findHolder(json: PageWorld['json'], addresses: readonly string[]): Promise<string> {
  for (const address of new Set(addresses)) {
    const { data } = portfolioShape.parse(await json(`/api/v1/portfolio/${address}`));
    if (data.tokens.length > 0) return address;
  }
  throw new Error('no recent trader holds a token');
}

async function describeWorld(
  program: Program,
): Promise<Omit<PageWorld, 'stop' | 'stopNode' | 'still' | 'nodeUrl' | 'importSources'>> {
  const json = async (path: string): Promise<unknown> => {
    const answer = await eventually(
      async () => fetch(`${program.url}${path}`),
      ({ status }) => status !== 503,
    );
    return answer.json();
  };
  const [pair] = await untilListed(program, '/api/v1/pairs?limit=1');
  const [token] = await untilListed(program, '/api/v1/tokens?limit=1');
  const { data } = activityShape.parse(await json('/api/v1/activity?event_type=swap&limit=100'));
  return {
    url: program.url,
    pair: pair?.address ?? '',
    token: token?.address ?? '',
    wallet: await findHolder(
      json,
      data.flatMap(({ maker }) => maker ?? []),
    ),
    json,
    addresses: async (path) => listShape.parse(await json(path)).data.map(({ address }) => address),
    wholeSeries: (path) => readSeries(json, path),
    async openapi() {
      const { paths } = openapiShape.parse(await json('/openapi.json'));
      return Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { parameters }]) => ({
          path,
          method,
          parameters: parameters.map(({ name }) => name),
        })),
      );
    },
  };
}

/** The items of a list, as soon as the list shows trades of the last 24 hours. */
async function untilListed(program: Program, path: string): Promise<{ address: string }[]> {
  const readPairs = async (): Promise<{ address: string; volume_24h_usd?: unknown }[]> => {
    if (program.hasEnded()) throw new Error(`${path} stays empty: ${program.lastWords()}`);
    const response = await fetch(`${program.url}${path}`);
    return response.ok ? listShape.parse(await response.json()).data : [];
  };
  return eventually(
    readPairs,
    (items) => items.some((item) => Number(item.volume_24h_usd) > 0),
    () => `${path} is empty; ${program.lastWords()}`,
  );
}

async function readSeries(json: (path: string) => Promise<unknown>, path: string): Promise<Bar[]> {
  const bars: Bar[] = [];
  let to: number | null = null;
  do {
    const page: z.infer<typeof ticksShape> = ticksShape.parse(
      await json(`${path}&limit=1000${to === null ? '' : `&to=${to}`}`),
    );
    bars.unshift(...page.data);
    to = page.meta.next_to;
  } while (to !== null);
  return bars;
}

export type CsvBar = Readonly<
  Record<'time' | 'open' | 'high' | 'low' | 'close' | 'volume' | 'trades', number>
>;

/** Parses the bars of the page's CSV download. */
export function readCsv(text: Buffer): CsvBar[] {
  const [head = '', ...lines] = text.toString().trim().split('\n');
  const names = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',').map(Number);
    const cell = (name: string): number => cells[names.indexOf(name)] ?? Number.NaN;
    return {
      time: cell('time'),
      open: cell('open'),
      high: cell('high'),
      low: cell('low'),
      close: cell('close'),
      volume: cell('volume'),
      trades: cell('trades'),
    };
  });
}

/** Reduces API bars to the columns of the CSV. */
export function asCsv(bars: readonly Bar[]): CsvBar[] {
  return bars.map(({ time, open, high, low, close, volume, trades }) => ({
    time,
    open,
    high,
    low,
    close,
    volume,
    trades,
  }));
}
