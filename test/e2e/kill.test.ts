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
import { oracleSwaps } from '../simulation/oracle';
import { enginePid, isAlive, runProgram, startProgram, waitForBlock, type Program } from '../support/program';
import { findWrongBars, type PairFacts } from '../support/wrongBars';

const BLOCKS = 420;
const KILLS = 8;
const SEED = Number(process.env['KILL_SEED'] ?? 11);

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

/** The tokens answer no decimals, so raw and scaled amounts are the same; the quote is the token that a majors list names. */
async function findDifferences(url: string): Promise<string[]> {
  const swaps = oracleSwaps(canonicalBlocks(), new Set([STUB_V2_FACTORY, STUB_V3_FACTORY]));
  const facts = new Map<string, PairFacts>();
  for (const pair of new Set(swaps.map((swap) => swap.pair))) {
    const answer = await fetch(`${url}/api/v1/pairs/${pair}`);
    const { data } = (await answer.json()) as {
      data: { base_token: { address: string }; tokens: { address: string }[] };
    };
    const baseIsToken0 = data.base_token.address === data.tokens[0]!.address;
    facts.set(pair, { decimals0: 0, decimals1: 0, baseIsToken0 });
  }
  return findWrongBars(url, swaps, (pair) => facts.get(pair)!);
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
    expect(await findDifferences(program.url)).toEqual([]);
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
