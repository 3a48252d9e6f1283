/**
 * Compares an index that starts 60 blocks before the head with an index of the whole chain. Once the search for older
 * pools is complete, both have the same pools, TVL, supplies and creation times, and the same supply and locked part of
 * LP tokens. After a restart in the middle of the search for older pools, the search continues.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { Interface, parseUnits } from 'ethers';

import { attach } from '../../../src/commands/attach';
import { loadConfig } from '../../../src/config';
import { callData } from '../../../src/domain/contractCall';
import { ERC20, encodeCall, readContract } from '../../../src/dev/abi';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { DEX_V2, DEX_V2_29, DEX_V3, FULL_PLAN, type WorldPlan } from '../../../src/dev/world/worldPlan';
import { createLog } from '../../../src/log';
import { readyShape, type ReadyAnswer } from '../../../src/wire/ready';
import { askRows } from '../../support/engine/askRows';
import { until } from '../../support/eventually';
import { listen } from '../../support/server/listen';
import { waitForBlock, type Program } from '../../support/server/program';
import { startWorldProgram, type WorldProgram } from '../../support/server/worldProgram';

const TOKENS = ['wpls', 'usdc', 'dai', 'hexd', 'weth', 'whole', 'deep', 'pepe', 'floki'];
const OTHERS = TOKENS.filter((key) => key !== 'wpls');

const SUPPLY = new Interface(['function totalSupply() view returns (uint256)']);
/** The burn address of the world's chain description. */
const BURN: Hex = '0x0000000000000000000000000000000000000369';

const PLAN: WorldPlan = {
  ...FULL_PLAN,
  tokens: FULL_PLAN.tokens.filter(({ key }) => TOKENS.includes(key)),
  pools: [
    ...OTHERS.map((base) => ({ dex: DEX_V2, base, quote: 'wpls', sideUsd: 400_000, popularity: 1 })),
    ...OTHERS.map((base) => ({ dex: DEX_V2_29, base, quote: 'wpls', sideUsd: 300_000, popularity: 1 })),
    ...OTHERS.slice(1).map((base) => ({ dex: DEX_V2, base, quote: 'usdc', sideUsd: 200_000, popularity: 1 })),
    ...OTHERS.slice(0, 5).map((base) => {
      return { dex: DEX_V3, base, quote: 'wpls', sideUsd: 300_000, popularity: 1, fee: 3_000 };
    }),
  ],
  launches: [],
  anchors: ['usdc', 'dai'],
  majors: ['weth', 'hexd'],
  burnToken: 'hexd',
  holders: 0,
};

interface Pair {
  readonly address: string;
  readonly liquidity_usd: number;
  readonly price: string | null;
  readonly created_at: number | null;
  readonly created_block: number | null;
}
interface Token {
  readonly address: string;
  readonly total_supply: string | null;
  readonly fdv_usd: number | null;
  readonly created_at: number | null;
  readonly pool_count: number;
  readonly liquidity_usd: number;
  readonly holders: number | null;
  readonly flags: readonly string[];
}
interface PairDetail {
  readonly total_supply: string | null;
  readonly lp_holders: number | null;
  readonly lp_locked_pct: number | null;
  readonly flags: readonly string[];
  readonly warnings: readonly { readonly code: string }[];
}
interface Overview {
  readonly tvl_usd: number;
  readonly history: {
    readonly complete: boolean;
    readonly start_block: number;
    readonly done_pct: number;
    readonly older_pools: number;
  };
}

let on: WorldProgram;
let late: Program;

const readAll = async (from: Program) => ({
  pairs: await on.get<Pair[]>('/pairs?limit=100&sort=created_at&order=asc', from),
  tokens: await on.get<Token[]>('/tokens?limit=100&sort=symbol&order=asc', from),
  overview: await on.get<Overview>('/overview', from),
});
const problemsOf = async ({ url }: Program): Promise<ReadyAnswer['problems']> =>
  readyShape.parse(await (await fetch(`${url}/readyz`)).json()).problems;

/**
 * Waits until the history of the program is complete and it has nothing left to read. Mines blocks, because the program
 * adds found pools at the end of its next block.
 */
const whenComplete = (from: Program): Promise<void> =>
  until(async () => {
    await on.world.mineBlock();
    if ((await problemsOf(from)).some(({ code }) => code === 'history_incomplete')) return false;
    return (await readAll(from)).overview.history.complete;
  });

/** A V2 pool that is older than the start block of the second index, and in which two users have LP tokens. */
const lpPool = () => on.world.pool(2);

/** Transactions of a user: adds liquidity, or takes it out, and burns a part of the user's LP tokens in both ways. */
const moveLp = async (from: Hex, part: bigint, isMint: boolean) => {
  const { world } = on;
  const pool = lpPool();
  const amount0 = (await world.balanceOf(pool.token0, pool.address)) / part;
  const amount1 = (await world.balanceOf(pool.token1, pool.address)) / part;
  const held = await world.balanceOf(pool, from);
  const transfer = (to: Hex) => world.transfer(pool, { from, to, amount: held / part });
  return [
    isMint
      ? world.mintV2(pool, { from, amount0, amount1 })
      : world.burnV2(pool, { from, liquidity: held / part }),
    ...(held === 0n ? [] : [transfer(BURN), transfer(ZERO_ADDRESS)]),
  ];
};

/** Waits until these programs have stored the node's head. */
async function whenAtHead(...programs: readonly Program[]): Promise<void> {
  const head = Number(await on.anvil.rpc.call('eth_blockNumber', []));
  for (const { url } of programs) await waitForBlock(url, head);
}

/** Compares the LP tokens in both indexes with the contract. */
async function expectLp(): Promise<void> {
  const { world, anvil, program } = on;
  const pool = lpPool();
  await whenAtHead(late, program);
  const supply = BigInt(String(await readContract(anvil.rpc, SUPPLY, pool.address, 'totalSupply')));
  const locked = (await world.balanceOf(pool, BURN)) + (await world.balanceOf(pool, ZERO_ADDRESS));
  expect(locked).toBeGreaterThan(1_000n);
  const whole = await on.get<PairDetail>(`/pairs/${pool.address}`);
  const part = await on.get<PairDetail>(`/pairs/${pool.address}`, late);
  for (const pair of [whole, part]) {
    expect(parseUnits(pair.total_supply ?? '', 18)).toBe(supply);
    expect(pair.lp_locked_pct).toBe(Number((locked * 10_000_000n) / supply) / 100_000);
    expect(pair.warnings.map(({ code }) => code)).toEqual(pair.flags);
  }
  expect(part.lp_holders).toBeNull();
  expect(part.flags.filter((flag) => !whole.flags.includes(flag))).toEqual(['partial_history']);
  const path = `/tokens/${pool.token0.key === 'wpls' ? pool.token1.address : pool.token0.address}`;
  const { lp_locked_pct } = await on.get<PairDetail>(path);
  expect(lp_locked_pct).toBeGreaterThan(1);
  expect((await on.get<PairDetail>(path, late)).lp_locked_pct).toBeCloseTo(lp_locked_pct ?? NaN, 3);
}

beforeAll(async () => {
  on = await startWorldProgram(PLAN);
  const { world } = on;
  for (const from of world.users.slice(0, 2)) {
    for (const protocol of ['uniswap_v2', 'uniswap_v3']) {
      const pools = world.pools.filter((pool) => pool.protocol === protocol);
      const swaps = await Promise.all(
        pools.map(async (pool) => {
          const amountIn = (await world.balanceOf(pool.token0, pool.address)) / 10_000n;
          const swap = { from, zeroForOne: true, amountIn };
          return protocol === 'uniswap_v2' ? world.swapV2(pool, swap) : world.swapV3(pool, swap);
        }),
      );
      await world.mineBlock(undefined, swaps);
    }
  }
  const [first, second] = world.users;
  await world.mineBlock(undefined, await moveLp(first!, 7n, true));
  await world.mineBlock(undefined, [
    ...(await moveLp(first!, 5n, false)),
    ...(await moveLp(second!, 9n, true)),
  ]);
  for (let i = 0; i < 160; i += 1) await world.mineBlock();
  // The blocks from here on are later than the start block of the second index. Two users trade in a V2 pool.
  for (const from of world.users.slice(0, 2)) {
    const pool = world.pool(0);
    const amountIn = (await world.balanceOf(pool.token0, pool.address)) / 50_000n;
    await world.mineBlock(undefined, [world.swapV2(pool, { from, zeroForOne: true, amountIn })]);
  }
  // A V3 pool gets more liquidity in two positions, and a swap between them.
  const ranged = world.pools.find(({ protocol }) => protocol === 'uniswap_v3')!;
  const amount0 = (await world.balanceOf(ranged.token0, ranged.address)) / 100n;
  const amount1 = (await world.balanceOf(ranged.token1, ranged.address)) / 100n;
  const mint = (width: number) =>
    world.mintV3(ranged, { tickLower: -60 * width, tickUpper: 60 * width, amount0, amount1 });
  await world.mineBlock(undefined, [
    mint(10_000),
    world.swapV3(ranged, { zeroForOne: true, amountIn: amount0 / 500n }),
  ]);
  await world.mineBlock(undefined, [mint(12_000)]);
  const [user] = world.users;
  const burned = world.tokens[3]!;
  const data = encodeCall(ERC20, 'transfer', ['0x000000000000000000000000000000000000dEaD', 1_000_000n]);
  await world.mineBlock(undefined, [{ from: user!, to: burned.address, data, gas: 200_000 }]);
  for (let i = 0; i < 5; i += 1) await world.mineBlock();
});

afterAll(async () => {
  await late?.end('SIGTERM');
  await on?.close();
});

test('a start 60 blocks before the head ends with the lists, TVL, supplies and creations of a whole index', async () => {
  const head = Number(await on.anvil.rpc.call('eth_blockNumber', []));
  await waitForBlock(on.program.url, head);
  const settings = { HISTORY_CALLS_PER_SECOND: '10' };
  late = await on.start(-60, settings);
  await waitForBlock(late.url, head);
  // While the search runs, `/overview` reports that the history is incomplete, and the block that the search has
  // reached.
  await until(async () => {
    return (await problemsOf(late)).some(({ code }) => code === 'history_incomplete');
  });
  const { overview } = await readAll(late);
  expect(overview.history).toMatchObject({ complete: false, start_block: head - 60 });
  const isHalfway = (percent: number | undefined): boolean =>
    percent !== undefined && percent > 0 && percent < 100;
  await until(async () => isHalfway((await readAll(late)).overview.history.done_pct));
  await until(async () => {
    const problem = (await problemsOf(late)).find(({ code }) => code === 'history_incomplete');
    return isHalfway(problem?.figures['done_pct']);
  });
  // Kills and restarts the program in the middle of the search for older pools.
  await until(async () => {
    await on.world.mineBlock();
    return (await readAll(late)).pairs.length > 1;
  });
  await late.end('SIGKILL');
  late = await on.start(-60, { HISTORY_CALLS_PER_SECOND: '1000' });
  await whenComplete(late);
  await whenAtHead(late, on.program);

  const [whole, part] = [await readAll(on.program), await readAll(late)];
  expect(part.pairs.map(({ address }) => address).sort()).toEqual(
    on.world.pools.map(({ address }) => address).sort(),
  );
  const byAddress = new Map(part.pairs.map((pair) => [pair.address, pair]));
  for (const pair of whole.pairs) {
    const { created_at, created_block, price } = pair;
    const mine = byAddress.get(pair.address)!;
    expect(mine).toMatchObject({ created_at, created_block, price });
    expect(mine.liquidity_usd / pair.liquidity_usd).toBeCloseTo(1, 3);
  }
  expect(part.overview.tvl_usd / whole.overview.tvl_usd).toBeCloseTo(1, 3);
  await expectLp();
  for (const [index, token] of whole.tokens.entries()) {
    const { address, total_supply, created_at, pool_count } = token;
    const mine = part.tokens[index]!;
    expect(mine).toMatchObject({ address, total_supply, created_at, pool_count, holders: null });
    expect(mine.flags).toContain('partial_history');
    expect((mine.fdv_usd ?? NaN) / (token.fdv_usd ?? NaN)).toBeCloseTo(1, 3);
  }
});

interface Walk {
  readonly pair: string;
  readonly walked: number;
  readonly near0: number;
  readonly near1: number;
}

/** The newest depth of each V3 pool. */
async function walksOf(startBlock: string): Promise<Walk[]> {
  const log = createLog('silent', false);
  const folder = on.settings['DATA_DIR']!.replace(/data-0$/, `data-${startBlock}`);
  const attached = await attach(
    loadConfig({ DATA_DIR: folder }, (path) => readFileSync(path, 'utf8')),
    log,
  );
  try {
    return await askRows<Walk>(
      attached.open(attached.name),
      `SELECT lower(hex(pair)) AS pair, argMax(walked_liquidity, ord) AS walked, argMax(near0, ord) AS near0,
         argMax(near1, ord) AS near1
       FROM (SELECT pair, ord, walked_liquidity, near0, near1, pool_type FROM pool_states
         UNION ALL SELECT pair, ord, walked_liquidity, near0, near1, pool_type FROM pool_states_head)
       WHERE pool_type = 3 GROUP BY pair ORDER BY pair`,
    );
  } finally {
    await attached.close();
  }
}

test('V3 pools that are older than the start block have the depth of an index of the whole chain', async () => {
  const whole = await walksOf('0');
  expect(whole.filter(({ walked }) => walked > 0).length).toBe(5);
  // The ingest session uses the ticks of older pools only from its next block on, so the test mines blocks.
  await until(async () => {
    await on.world.mineBlock();
    return (await walksOf('-60')).every(({ walked }) => walked >= 0);
  });
  expect(await walksOf('-60')).toEqual(whole);
});

test('if a reorg removes the block that lists older pools, the block in its place lists them', async () => {
  const before = await readAll(late);
  const fresh = await on.start(-40, { HISTORY_CALLS_PER_SECOND: '1000' });
  try {
    // The chain stands still, so all found pools wait for its next block.
    await until(async () => (await readAll(fresh)).overview.history.done_pct === 100);
    expect((await readAll(fresh)).overview.history.complete).toBe(false);
    const [first, second] = on.world.users;
    await on.world.mineBlock(undefined, await moveLp(second!, 3n, true));
    await until(async () => (await readAll(fresh)).pairs.length === on.world.pools.length);
    await expectLp();
    await on.world.reorg(1, [{}, { transactions: await moveLp(first!, 6n, true) }, {}]);
    await expectLp();
    await whenComplete(fresh);
    await whenAtHead(fresh, on.program);
    const [whole, part] = [await readAll(on.program), await readAll(fresh)];
    const byAddress = (pairs: readonly Pair[]): Pair[] =>
      [...pairs].sort((a, b) => (a.address < b.address ? -1 : 1));
    expect(byAddress(part.pairs).map(({ created_at }) => created_at)).toEqual(
      byAddress(before.pairs).map(({ created_at }) => created_at),
    );
    expect(part.overview.tvl_usd / whole.overview.tvl_usd).toBeCloseTo(1, 3);
  } finally {
    await fresh.end('SIGTERM');
  }
});

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly (
    string | { readonly fromBlock?: string; readonly to?: Hex; readonly data?: Hex }
  )[];
}

test('with a node without old logs, allPairs lists the pairs of V2 factories, and what the node does not tell is null with a flag', async () => {
  const head = Number(await on.anvil.rpc.call('eth_blockNumber', []));
  const isOld = ({ method, params: [first] }: Call): boolean => {
    if (method === 'eth_getBlockReceipts') return Number(first) < head - 50;
    return (
      method === 'eth_getLogs' && typeof first === 'object' && Number(first.fromBlock ?? head) < head - 50
    );
  };
  const silent = [on.world.tokens.find(({ key }) => key === 'floki')!.address, lpPool().address];
  const isSilent = ({ params: [first] }: Call): boolean =>
    typeof first === 'object' &&
    first.data === callData('totalSupply()') &&
    silent.some((one) => one === first.to);
  const answer = async (call: Call): Promise<object> => {
    const { id, method, params } = call;
    if (isSilent(call)) return { jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted' } };
    if (isOld(call)) return { jsonrpc: '2.0', id, error: { code: -32000, message: 'logs are pruned' } };
    const result = await on.anvil.rpc.call(method, [...params]).catch((error: Error) => error);
    if (!(result instanceof Error)) return { jsonrpc: '2.0', id, result };
    return { jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted' } };
  };
  const node = createServer((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => (text += piece.toString()));
    request.on('end', async () => {
      const asked = JSON.parse(text) as Call | Call[];
      const told = Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(told));
    });
  });
  const { port, close } = await listen(node);
  const pruned = await on.start(-50, { RPC_URL: `http://127.0.0.1:${port}` });
  try {
    const isV2 = ({ protocol }: { protocol: string }): boolean => protocol === 'uniswap_v2';
    const wanted = on.world.pools.filter(isV2).map(({ address }) => address);
    await until(async () => {
      await on.world.mineBlock();
      const listed = new Set((await readAll(pruned)).pairs.map(({ address }) => address));
      return wanted.every((address) => listed.has(address));
    });
    expect((await readAll(pruned)).overview.history.complete).toBe(false);
    await until(async () => (await problemsOf(pruned)).some(({ code }) => code === 'history_incomplete'));
    // A supply that its contract does not tell is null, with a flag.
    const unsupplied = async (): Promise<Token[]> =>
      (await readAll(pruned)).tokens.filter(({ total_supply: supply }) => supply === null);
    await until(async () => (await unsupplied()).length === 1);
    const pair = await on.get<PairDetail>(`/pairs/${lpPool().address}`, pruned);
    expect([...(await unsupplied()), pair]).toEqual([
      expect.objectContaining({ address: silent[0], flags: ['partial_history', 'supply_unknown'] }),
      expect.objectContaining({ address: silent[1], total_supply: null, lp_locked_pct: null }),
    ]);
    expect(pair.flags).toEqual(expect.arrayContaining(['partial_history', 'supply_unknown']));
  } finally {
    await pruned.end('SIGTERM');
    await close();
  }
});
