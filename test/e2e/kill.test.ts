/** Killing any process at any moment and starting again gives the same bars as never having been killed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import {
  startStubChain,
  STUB_V2_FACTORY,
  STUB_V3_FACTORY,
  type StubChain,
} from '../../scripts/bench/stubChain';
import { stubDescription } from '../../scripts/bench/stubDescription';
import type { ChainBlock, ChainLog } from '../../src/domain/block';
import { Random } from '../simulation/random';
import { oracleBars, oracleSwaps, type OracleBar } from '../simulation/oracle';
import { enginePid, isAlive, runProgram, startProgram, waitForBlock, type Program } from '../support/program';

const BLOCKS = 420;
const KILLS = 8;
const SEED = Number(process.env['KILL_SEED'] ?? 11);
const TIMEFRAMES: Readonly<Record<string, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
};

let chain: StubChain;
let folder: string;

beforeAll(async () => {
  chain = await startStubChain({ blocks: BLOCKS, logsPerBlock: 60, pairs: 25 });
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-kill-'));
  writeFileSync(
    join(folder, 'chain.json'),
    JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined }),
  );
});

afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

function canonicalBlocks(): ChainBlock[] {
  return chain.logBodies.map((body, number) => ({
    number,
    hash: `0x${'0'.repeat(64)}`,
    parentHash: `0x${'0'.repeat(64)}`,
    timestamp: chain.timeOf(number),
    baseFeePerGas: null,
    transactionCount: 0,
    transactions: [],
    logs: (JSON.parse(body.toString()) as (ChainLog & { logIndex: string })[]).map((log) => ({
      ...log,
      logIndex: Number(log.logIndex),
    })),
  }));
}

interface Bar {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
  readonly trades: number;
}

const close = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

/** The tokens answer no decimals, so raw and scaled prices are the same but for the orientation. */
function sameBar(bar: Bar, expected: OracleBar, inverted: boolean): boolean {
  const price = (value: number): number => (inverted ? 1 / value : value);
  const [high, low] = inverted ? [expected.low, expected.high] : [expected.high, expected.low];
  return (
    close(bar.open, price(expected.open)) &&
    close(bar.close, price(expected.close)) &&
    close(bar.high, price(high)) &&
    close(bar.low, price(low)) &&
    close(bar.volume, Number(inverted ? expected.volume1 : expected.volume0)) &&
    bar.trades === expected.trades
  );
}

/** A line for each bar of each pair and timeframe that the API gives otherwise than the oracle. */
async function findWrongBars(url: string): Promise<string[]> {
  const swaps = oracleSwaps(canonicalBlocks(), new Set([STUB_V2_FACTORY, STUB_V3_FACTORY]));
  const expected = oracleBars(swaps);
  const wrong: string[] = [];
  for (const pair of new Set(swaps.map((swap) => swap.pair))) {
    for (const [timeframe, seconds] of Object.entries(TIMEFRAMES)) {
      const answer = await fetch(
        `${url}/api/v1/pairs/${pair}/ticks?timeframe=${timeframe}&currency=quote&limit=1000`,
      );
      const { data, meta } = (await answer.json()) as {
        data: Bar[];
        meta: { base_token: { address: string } };
      };
      const inverted = meta.base_token.address.startsWith('0x02');
      // A bar none of whose swaps has a price (its Sync stands in another transaction) is left out.
      const keys = [...expected]
        .filter(([key, bar]) => key.startsWith(`${seconds} ${pair} `) && !Number.isNaN(bar.open))
        .map(([key]) => key);
      const times = new Set(data.map((bar) => bar.time));
      for (const key of keys) {
        if (!times.has(Number(key.split(' ')[2])))
          wrong.push(`missing ${key}: ${expected.get(key)?.trades} trades`);
      }
      if (data.length > keys.length)
        wrong.push(`${pair} ${timeframe}: ${data.length} bars, ${keys.length} expected`);
      for (const bar of data) {
        const other = expected.get(`${seconds} ${pair} ${bar.time}`);
        if (other === undefined || !sameBar(bar, other, inverted))
          wrong.push(`${pair} ${timeframe} ${JSON.stringify(bar)}`);
      }
    }
  }
  return wrong;
}

test('killed at random moments, the program ends with the bars of the oracle and leaves nothing behind', async () => {
  const random = new Random(SEED);
  const dataDir = join(folder, 'data');
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    DATA_DIR: dataDir,
    RATE_LIMIT_PER_MINUTE: '0',
  };
  let head = 150;
  chain.setHead(head);
  const advance = setInterval(() => chain.setHead((head = Math.min(BLOCKS, head + 1))), 40);
  const engines = new Set<number>();
  let program: Program | null = null;
  try {
    for (let kill = 0; kill < KILLS; kill += 1) {
      program ??= await startProgram('all', settings);
      await delay(random.int(300, 2_000));
      const engine = enginePid(dataDir);
      if (engine !== null) engines.add(engine);
      const what = random.pick(['engine', 'program', 'both'] as const);
      if (what !== 'program' && engine !== null && isAlive(engine)) process.kill(engine, 'SIGKILL');
      if (what === 'engine') continue;
      await program.end('SIGKILL');
      program = null;
    }
    program ??= await startProgram('all', settings);
    await waitForBlock(program.url, BLOCKS);
    expect(await findWrongBars(program.url)).toEqual([]);
    engines.add(enginePid(dataDir) ?? 0);
    expect(await program.end('SIGTERM')).toBe(0);
    program = null;
  } finally {
    clearInterval(advance);
    await program?.end('SIGKILL');
  }
  const verified = await runProgram(['verify'], settings);
  expect(verified.output).toContain('agree with the stored events');
  expect(verified.code).toBe(0);
  expect([...engines].filter((pid) => pid > 0 && isAlive(pid))).toEqual([]);
}, 180_000);
