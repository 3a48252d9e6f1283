/**
 * Checks supplies, warnings about risks and past TVL in the API, over a real node: a token with a tax, a token that
 * only its creator can sell, and a token list.
 */
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { getCreateAddress, Interface, parseUnits } from 'ethers';

import { systemClock } from '../../../src/node/rpc/clock';
import { openDatabase } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { engineFolderOf, knock } from '../../../src/clickhouse/engine/engineDoor';
import { encodeCall, readContract, ERC20 } from '../../../src/dev/abi';
import type { DevTransaction } from '../../../src/dev/node/blockMaker';
import { readOwnBytecode } from '../../../src/dev/packageFiles';
import { readHead } from '../../../src/query/head/headState';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { DexDayWorker } from '../../../src/workers/dexDayWorker';
import { listen } from '../../support/server/listen';
import { until } from '../../support/eventually';
import { runProgram, waitForBlock } from '../../support/server/program';
import { rawWorth, startWorldProgram, type WorldProgram } from '../../support/server/worldProgram';
import { TEST_POOLS } from '../../support/worlds/testWorldPlan';

const DAY = 86_400;
const UNIT = 10n ** 18n;
const BUYERS = 20;
const BURN: Hex = '0x0000000000000000000000000000000000000369';
const LOGO = 'https://example.com/hexd.png';
const TRICK = new Interface([
  'constructor(uint256)',
  'function transfer(address,uint256)',
  'function totalSupply() view returns (uint256)',
  'function closePool(address)',
  'function createPair(address,address)',
  'function getPair(address,address) view returns (address)',
  'function mint(address)',
  'function swap(uint256,uint256,address,bytes)',
  'function getReserves() view returns (uint112,uint112,uint32)',
]);
const LP_TOKEN = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
]);

interface Token {
  readonly address: string;
  readonly symbol: string;
  readonly total_supply: string | null;
  readonly burned_supply: string | null;
  readonly circulating_supply: string | null;
  readonly circulating_supply_excludes: readonly { address: string; label: string; amount: string }[];
  readonly price_usd: string | null;
  readonly fdv_usd: number | null;
  readonly market_cap_usd: number | null;
  readonly logo_url: string | null;
  readonly decimals: number;
  readonly flags: readonly string[];
  readonly warnings: readonly { code: string; message: string }[];
  readonly creator: string | null;
  readonly transfer_tax_pct: { buy: number | null; sell: number | null } | null;
  readonly lp_locked_pct: number | null;
  readonly lp_held_by_creator_pct: number | null;
}
interface Pair {
  readonly flags: readonly string[];
  readonly warnings: readonly { code: string }[];
  readonly lp_locked_pct: number | null;
  readonly lp_held_by_creator_pct: number | null;
  readonly transfer_tax_pct: unknown;
}

let on: WorldProgram;
let trick: Hex;
let trickPair: Hex;
let creator: Hex;

const tokenOf = (address: string): Promise<Token> => on.get<Token>(`/tokens/${address}`);
const sellTaxOfNative = async (): Promise<number | null> =>
  (await tokenOf(addressOf('wpls'))).transfer_tax_pct?.sell ?? null;
const addressOf = (key: string): Hex => on.world.tokens.find((token) => token.key === key)!.address;

/** Mines a block with these transactions. Returns its number. */
async function mine(transactions: readonly DevTransaction[], timestamp?: number): Promise<number> {
  return (await on.world.mineBlock(timestamp, transactions)).number;
}

const by = (from: Hex, to: Hex | null, data: Hex): DevTransaction => ({ from, to, data, gas: 3_000_000 });

/** The creator makes a pool of the token and the wrapped native token, and 20 accounts buy. */
async function launchTrick(): Promise<void> {
  const { world, anvil } = on;
  const { rpc } = anvil;
  creator = world.users[1]!;
  const nonce = BigInt(String(await rpc.call('eth_getTransactionCount', [creator, 'latest'])));
  trick = getCreateAddress({ from: creator, nonce }).toLowerCase() as Hex;
  const deploy = readOwnBytecode('TrickToken') + TRICK.encodeDeploy([1_000_000n * UNIT]).slice(2);
  const { factory } = world.v2[0]!;
  await mine([
    by(creator, null, deploy as Hex),
    by(creator, factory, encodeCall(TRICK, 'createPair', [trick, world.wrappedNative])),
  ]);
  const found = await readContract(rpc, TRICK, factory, 'getPair', [trick, world.wrappedNative]);
  trickPair = String(found).toLowerCase() as Hex;
  const wpls = world.tokens.find(({ key }) => key === 'wpls')!;
  const side = rawWorth(wpls, 4_000);
  const payIn = rawWorth(wpls, 5);
  await mine([
    by(creator, trick, encodeCall(TRICK, 'transfer', [trickPair, 500_000n * UNIT])),
    by(creator, world.wrappedNative, encodeCall(ERC20, 'transfer', [trickPair, side])),
    by(creator, trickPair, encodeCall(TRICK, 'mint', [creator])),
    by(creator, trick, encodeCall(TRICK, 'closePool', [trickPair])),
  ]);
  await rpc.call('anvil_autoImpersonateAccount', [true]);
  const isToken0 = trick < world.wrappedNative;
  const out = 100n * UNIT;
  for (let index = 0; index < BUYERS; index += 1) {
    const buyer: Hex = `0x${'b'.repeat(38)}${String(index).padStart(2, '0')}`;
    await rpc.call('anvil_setBalance', [buyer, `0x${(10n ** 30n).toString(16)}`]);
    await mine([by(creator, world.wrappedNative, encodeCall(ERC20, 'transfer', [trickPair, payIn]))]);
    const data = encodeCall(TRICK, 'swap', [isToken0 ? out : 0n, isToken0 ? 0n : out, buyer, '0x']);
    await rpc.call('eth_sendTransaction', [{ from: buyer, to: trickPair, data, gas: '0x2dc6c0' }]);
    await mine([]);
  }
}

/** Six buys and six sales of the taxed token. */
async function tradeTaxed(): Promise<void> {
  const { world } = on;
  const pool = world.pool(TEST_POOLS.taxedWpls);
  const taxedIs0 = pool.token0.key === 'taxed';
  for (let index = 0; index < 6; index += 1)
    await mine([
      world.swapV2(pool, {
        zeroForOne: !taxedIs0,
        amountIn: rawWorth(taxedIs0 ? pool.token1 : pool.token0, 50),
      }),
      world.swapV2(pool, {
        zeroForOne: taxedIs0,
        amountIn: rawWorth(taxedIs0 ? pool.token0 : pool.token1, 40),
      }),
    ]);
}

beforeAll(async () => {
  on = await startWorldProgram();
  await launchTrick();
  await tradeTaxed();
  const { world } = on;
  const hexd = world.tokens.find(({ key }) => key === 'hexd')!;
  await mine([
    world.transfer(hexd, { to: BURN, amount: 7_000n }),
    world.transfer(hexd, { to: ZERO_ADDRESS, amount: 5_000n }),
  ]);
  // Moves the time of the chain by two days, so that the first two days end in final blocks and their TVL is
  // computed. Final blocks enter the final tables 32 at a time.
  const { timestamp } = await world.mineBlock();
  let tip = 0;
  for (let index = 0; index < 46; index += 1) tip = await mine([], timestamp + 2 * DAY + 10 * index);
  await waitForBlock(on.program.url, tip);
  await until(async () => {
    const [one, other] = await Promise.all([tokenOf(trick), tokenOf(addressOf('taxed'))]);
    const isTaxed = other.flags.includes('fee_on_transfer') && other.transfer_tax_pct?.sell !== null;
    return one.flags.includes('honeypot') && isTaxed && (await sellTaxOfNative()) === 0;
  });
});

afterAll(() => on?.close());

test('the supply of a token is the same in /tokens, /contracts and the Etherscan dialect, and equals totalSupply() of the contract', async () => {
  let burned = 0;
  for (const { address } of await on.get<Token[]>('/tokens?limit=100')) {
    const token = await tokenOf(address);
    const contract = await on.get<{ token: { total_supply: string } }>(`/contracts/${address}`);
    const query = `/api?module=stats&action=tokensupply&contractaddress=${address}`;
    const { result } = (await (await fetch(`${on.program.url}${query}`)).json()) as { result: string };
    const scale = 10 ** token.decimals;
    expect(contract.token.total_supply).toBe(token.total_supply);
    expect(Number(result) / scale).toBeCloseTo(Number(token.total_supply), 6);
    expect(result).toBe(String(await readContract(on.anvil.rpc, TRICK, address as Hex, 'totalSupply')));
    const rest = Number(token.total_supply) - Number(token.burned_supply);
    if (token.price_usd !== null) expect(token.fdv_usd! / (rest * Number(token.price_usd))).toBeCloseTo(1, 9);
    if (Number(token.burned_supply) > 0) burned += 1;
  }
  expect(burned).toBeGreaterThan(0);
  const hexd = await tokenOf(addressOf('hexd'));
  // 7,000 raw units are at the burn address. 5,000 units were sent to the zero address, but totalSupply() of the
  // contract still contains them. Both count as burned.
  expect(Number(hexd.burned_supply) * 10 ** hexd.decimals).toBe(12_000);
});

test('market cap is the price times the supply without burn addresses and treasuries', async () => {
  const { world } = on;
  const token = await tokenOf(addressOf('hexd'));
  const stock = await world.balanceOf(
    world.tokens.find(({ key }) => key === 'hexd')!,
    world.trader,
  );
  const excluded = token.circulating_supply_excludes.reduce((sum, { amount }) => sum + Number(amount), 0);
  expect(token.circulating_supply_excludes.map(({ address }) => address).sort()).toEqual(
    [ZERO_ADDRESS, BURN, world.trader].sort(),
  );
  expect(excluded * 10 ** token.decimals).toBeCloseTo(Number(stock) + 12_000, -3);
  expect(Number(token.circulating_supply)).toBeCloseTo(Number(token.total_supply) - excluded, 4);
  const worth = Number(token.price_usd) * Number(token.circulating_supply);
  expect(token.market_cap_usd! / worth).toBeCloseTo(1, 9);
  const [listed] = await on.get<Token[]>(`/tokens?addresses=${token.address}`);
  expect(listed!.market_cap_usd).toBe(token.market_cap_usd);
});

test('a taxed token has a transfer tax and a flag, and an honest token has none', async () => {
  const taxed = await tokenOf(addressOf('taxed'));
  expect(taxed.flags).toContain('fee_on_transfer');
  expect(taxed.transfer_tax_pct!.buy).toBeCloseTo(2, 3);
  expect(taxed.transfer_tax_pct!.sell).toBeCloseTo(2, 3);
  const wpls = await tokenOf(addressOf('wpls'));
  expect(wpls.flags).not.toContain('fee_on_transfer');
  expect(wpls.transfer_tax_pct).toEqual({ buy: 0, sell: 0 });
});

test('a token that only its creator can sell has the flags of a honeypot', async () => {
  const token = await tokenOf(trick);
  const codes = ['honeypot', 'mintable', 'pausable', 'spam', 'lp_held_by_creator', 'new'];
  expect(token.flags).toEqual(expect.arrayContaining(codes.slice(0, 5)));
  expect(token.warnings.map(({ code }) => code)).toEqual(expect.arrayContaining(codes.slice(0, 5)));
  expect(token.creator).toBe(creator);
  expect(token.lp_held_by_creator_pct).toBeCloseTo(100, 3);
  expect(token.lp_locked_pct).toBe(0);
  const pair = await on.get<Pair>(`/pairs/${trickPair}`);
  expect(pair.flags).toEqual(expect.arrayContaining(codes.slice(0, 5)));
  expect(pair.flags.filter((flag, index) => pair.flags.indexOf(flag) !== index)).toEqual([]);
  expect(pair.warnings.map(({ code }) => code)).toEqual(pair.flags);
  expect(pair.lp_held_by_creator_pct).toBeCloseTo(100, 3);
  const [listed] = await on.get<Pair[]>(`/pairs?addresses=${trickPair}`);
  expect(listed!.flags).toEqual(pair.flags);
  const honest = await tokenOf(addressOf('hexd'));
  for (const code of codes.slice(0, 5)) expect(honest.flags).not.toContain(code);
});

test('LP tokens sent to a burn address are locked', async () => {
  const { world } = on;
  const held = BigInt(String(await readContract(on.anvil.rpc, ERC20, trickPair, 'balanceOf', [creator])));
  const block = await mine([by(creator, trickPair, encodeCall(ERC20, 'transfer', [BURN, held / 4n]))]);
  await waitForBlock(on.program.url, block);
  expect(world.users).toContain(creator);
  expect((await tokenOf(trick)).lp_locked_pct).toBeCloseTo(25, 3);
  const pair = await on.get<Pair>(`/pairs/${trickPair}`);
  expect([pair.lp_locked_pct, pair.lp_held_by_creator_pct]).toEqual([
    expect.closeTo(25, 3),
    expect.closeTo(75, 3),
  ]);
});

test('LP tokens sent to the zero address are locked and stay in the supply', async () => {
  const lp = async (...call: [string, string[]]): Promise<bigint> =>
    BigInt(String(await readContract(on.anvil.rpc, LP_TOKEN, trickPair, ...call)));
  const held = await lp('balanceOf', [creator]);
  const block = await mine([
    by(creator, trickPair, encodeCall(ERC20, 'transfer', [ZERO_ADDRESS, held / 3n])),
  ]);
  await waitForBlock(on.program.url, block);
  expect((await tokenOf(trick)).lp_locked_pct).toBeCloseTo(50, 3);
  const pair = await on.get<Pair & { total_supply: string }>(`/pairs/${trickPair}`);
  expect([pair.lp_locked_pct, pair.lp_held_by_creator_pct]).toEqual([
    expect.closeTo(50, 3),
    expect.closeTo(50, 3),
  ]);
  expect(parseUnits(pair.total_supply, 18)).toBe(await lp('totalSupply', []));
});

test('past days of a DEX have a TVL', async () => {
  interface Day {
    readonly time: number;
    readonly tvl_usd: number | null;
  }
  const read = (): Promise<{ history: Day[]; tvl_usd: number }> => on.get(`/dexes/${on.world.pools[0]!.dex}`);
  await until(async () => (await read()).history.every(({ tvl_usd: tvl }) => tvl !== null));
  const { history, tvl_usd } = await read();
  expect(history).toHaveLength(3);
  // Prices do not change after the first day, so the TVL does not change either.
  expect(history[1]!.tvl_usd! / history[0]!.tvl_usd!).toBeCloseTo(1, 6);
  expect(history.at(-1)!.tvl_usd).toBe(tvl_usd);
});

test('if the index starts late in the chain, days have a TVL only once the pools from before the start are listed', async () => {
  const late = await on.start(-72);
  try {
    const overview = () => on.get<{ history: { complete: boolean; done_pct: number } }>('/overview', late);
    // The found pools are listed at the end of the next block.
    await until(
      async () => (await fetch(`${late.url}/readyz`)).ok && (await overview()).history.done_pct === 100,
    );
    await on.world.mineBlock();
    await until(async () => (await overview()).history.complete);
    const engine = await knock(engineFolderOf(join(on.settings['DATA_DIR']!, '..', 'data--72')));
    const database = openDatabase({ url: engine!.writerUrl });
    const worker = new DexDayWorker({
      database,
      chainId: 369,
      sources: { anchors: [], wrappedNative: on.world.wrappedNative },
      status: { phase: 'follow', finalTo: null, poolSearch: { state: 'complete' } },
      readHead: () => readHead(createQueryRunner(database), 369),
      log: createLog('silent', false),
      clock: systemClock(),
      onChange: () => undefined,
    });
    const days = [];
    while (await worker.step()) days.push('computed');
    await database.close();
    expect(days).toEqual([]);
    const { history } = await on.get<{ history: { tvl_usd: number | null }[] }>(
      `/dexes/${on.world.pools[0]!.dex}`,
      late,
    );
    expect(history.map(({ tvl_usd: tvl }) => tvl !== null)).toEqual([false, false, true]);
  } finally {
    await late.end('SIGTERM');
  }
});

test('a token list from a file or a server gives tokens their logos, and a newer list replaces it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-list-'));
  const hexd = addressOf('hexd');
  const entry = (logoURI: unknown): object => ({
    chainId: 369,
    address: hexd,
    name: 'Hex',
    symbol: 'HEX',
    decimals: 8,
    logoURI,
  });
  const list = (...tokens: unknown[]): string => JSON.stringify({ name: 'Dev list', tokens });
  const file = join(folder, 'list.json');
  writeFileSync(file, list(entry(LOGO), null, { chainId: 'x' }, entryOf('javascript:alert(1)')));
  const server = createServer((_, response) => response.end(list()));
  const { port, close } = await listen(server);
  const { settings } = on;
  try {
    const stored = await runProgram(['import-tokens', file], settings);
    expect(stored).toEqual({ code: 0, output: expect.stringMatching(/2 tokens found.* 2 skipped/) });
    await until(async () => (await next()).logo_url === LOGO);
    const items = await on.get<Token[]>('/tokens?limit=100');
    expect(items.filter(({ logo_url }) => logo_url !== null).map(({ address }) => address)).toEqual([hexd]);
    await runProgram(['import-tokens', `http://127.0.0.1:${port}/list.json`], settings);
    await until(async () => (await next()).logo_url === null);
    const refused = await runProgram(['import-tokens', folder], settings);
    expect(refused).toEqual({ code: 1, output: expect.stringMatching(/allowed: a file with a token list/) });
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }

  /**
   * Mines a block and returns the token as of this block. The API may return a cached answer as long as the block is
   * the same.
   */
  async function next(): Promise<Token> {
    const block = await mine([]);
    await waitForBlock(on.program.url, block);
    return tokenOf(hexd);
  }
  function entryOf(logoURI: string): object {
    return { chainId: 369, address: addressOf('usdc'), logoURI };
  }
});
