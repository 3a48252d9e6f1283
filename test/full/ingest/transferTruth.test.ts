/** Compares balances, supplies, positions and the protocol fee derived from logs with the contracts' own answers. */
import { Interface } from 'ethers';
import { abi as managerAbi } from '@uniswap/v3-periphery/artifacts/contracts/interfaces/INonfungiblePositionManager.sol/INonfungiblePositionManager.json';

import { encodeCall, readContract, V2_ROUTER } from '../../../src/dev/abi';
import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { openBuilder, type Builder } from '../../../src/dev/node/builder';
import { buildWorld } from '../../../src/dev/world/buildWorld';
import { field, openDevRpc, toNumber, type DevRpc } from '../../../src/dev/node/devRpc';
import { mineHistory } from '../../../src/dev/world/history';
import type { World } from '../../../src/dev/world/world';
import type { ChainLog } from '../../../src/domain/block';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import {
  createTransferDecoder,
  type SkippedLogs,
  type TransferRows,
} from '../../../src/ingest/decode/decodeTransfers';
import { createLog } from '../../../src/log';
import { findProtocol } from '../../../src/protocols/registry';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { pendingProtocolLp } from '../../../src/query/portfolio/lpShare';
import { TEST_POOLS, TEST_WORLD_PLAN } from '../../support/worlds/testWorldPlan';
import { plainBalances } from '../../integration/api/portfolio/transferWorld';

const GENESIS = 1_700_000_000;
const READS = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function getReserves() view returns (uint112, uint112, uint32)',
  'function feeToSetter() view returns (address)',
  'function setFeeTo(address)',
  'function withdraw(uint256)',
]);
const MANAGER = new Interface(managerAbi);
const FAR_FUTURE = 4_102_444_800;
const MAX_UINT128 = (1n << 128n) - 1n;
const GAS = 900_000;

let node: Anvil;
let rpc: DevRpc;
let world: World;
let builder: Builder;

beforeAll(async () => {
  node = await startAnvil({ log: createLog('silent', false), timestamp: GENESIS, accounts: 12 });
  rpc = openDevRpc(node.url);
  const built = await buildWorld(rpc, { ...TEST_WORLD_PLAN, holders: 6 });
  const history = { seed: 3, swaps: 150, endTimestamp: GENESIS + 5 * 86_400, days: 2 };
  world = (await mineHistory(rpc, built, history)).world;
  builder = await openBuilder(rpc, world.accounts);
});

afterAll(async () => {
  await rpc?.close();
  await node?.stop();
});

async function listLogs(): Promise<(ChainLog & { readonly number: number })[]> {
  const logs = (await rpc.call('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])) as object[];
  return logs.map((entry) => ({
    number: toNumber(field(entry, 'blockNumber')),
    address: String(field(entry, 'address')).toLowerCase() as Hex,
    topics: field(entry, 'topics') as Hex[],
    data: field(entry, 'data') as Hex,
    transactionHash: field(entry, 'transactionHash') as Hex,
    transactionIndex: toNumber(field(entry, 'transactionIndex')),
    logIndex: toNumber(field(entry, 'logIndex')),
  }));
}

async function decodeChain(): Promise<TransferRows & { readonly skipped: SkippedLogs }> {
  const decoder = createTransferDecoder({
    wrappedNative: world.wrappedNative,
    positionManagers: new Set([world.v3.positionManager]),
    keepsShares: () => false,
    decodePoolEvent: (log) =>
      world.pools.some(({ address }) => address === log.address) ? uniswapV3.decodeEvent(log) : null,
  });
  const all: TransferRows = { transfers: [], position_events: [], unreadableTokens: new Set() };
  let block = -1;
  let rows: TransferRows = { transfers: [], position_events: [], unreadableTokens: new Set() };
  for (const { number, ...log } of await listLogs()) {
    if (number !== block) rows = { transfers: [], position_events: [], unreadableTokens: new Set() };
    block = number;
    if (!decoder.topics.has(log.topics[0]!)) continue;
    const before = [rows.transfers.length, rows.position_events.length] as const;
    decoder.read({ number, timestamp: 0 }, log, rows);
    all.transfers.push(...rows.transfers.slice(before[0]));
    all.position_events.push(...rows.position_events.slice(before[1]));
  }
  return { ...all, skipped: decoder.skipped };
}

const balancesOf = ({ transfers }: TransferRows): Map<string, Map<string, bigint>> =>
  plainBalances([{ number: 0, transfers, positions: [] }]);

async function sendManager(from: Hex, name: string, values: readonly unknown[]): Promise<void> {
  await builder.send(from, world.v3.positionManager, encodeCall(MANAGER, name, values), GAS);
}

test('the supply and balances of every token equal the sums of its logs, with the locked LP tokens', async () => {
  // Unwraps some native coins, so that a Withdrawal occurs too.
  const unwrap = encodeCall(READS, 'withdraw', [12_345n]);
  await builder.send(world.accounts[1]!, world.wrappedNative, unwrap, GAS);
  await builder.finish();
  const decoded = await decodeChain();
  const kinds = new Set(decoded.transfers.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(['transfer', 'deposit', 'withdrawal']));
  expect(decoded.skipped).toEqual({ nft: 0, malformed: 0, unplaced: 0 });
  const balances = balancesOf(decoded);
  const lp = world.pools.filter(({ protocol }) => protocol === 'uniswap_v2').map(({ address }) => address);
  let read = 0;
  for (const token of [...world.tokens.map(({ address }) => address), ...lp]) {
    const holders = balances.get(token)!;
    const supply = BigInt(String(await readContract(rpc, READS, token, 'totalSupply')));
    const atZero = BigInt(String(await readContract(rpc, READS, token, 'balanceOf', [ZERO_ADDRESS])));
    // Some tokens keep counting amounts that were sent to the zero address. The program treats these amounts
    // as burnt.
    const burnt = lp.includes(token) ? 0n : atZero;
    expect({ token, supply: -(holders.get(ZERO_ADDRESS) ?? 0n) }).toEqual({ token, supply: supply - burnt });
    for (const [holder, balance] of holders) {
      if (holder === ZERO_ADDRESS) continue;
      const held = await readContract(rpc, READS, token, 'balanceOf', [holder]);
      expect({ token, holder, balance }).toEqual({ token, holder, balance: held });
      read += 1;
    }
  }
  expect(read).toBeGreaterThan(50);
  expect(await readContract(rpc, READS, lp[0]!, 'balanceOf', [ZERO_ADDRESS])).toBe(1_000n);
});

test('a swap of a V2 or V3 pool pays what the quote of the state before it says', async () => {
  const states = new Map<string, PoolState>();
  const matches = { uniswap_v2: 0, uniswap_v3: 0 };
  let synced = EMPTY_STATE;
  for (const log of await listLogs()) {
    const worldPool = world.pools.find(({ address }) => address === log.address);
    if (worldPool === undefined) continue;
    const protocol = findProtocol(worldPool.protocol)!;
    const before = states.get(log.address) ?? EMPTY_STATE;
    const event = protocol.decodeEvent(log, before);
    if (event === null) continue;
    const after = protocol.applyEvent(before, event);
    states.set(log.address, after);
    if (event.kind === 'sync') synced = before;
    if (event.kind !== 'swap' || event.amount0 * event.amount1 >= 0n) continue;
    const isToken0In = event.amount0 > 0n;
    const [into, out] = isToken0In ? [event.amount0, -event.amount1] : [event.amount1, -event.amount0];
    const { feePips } = worldPool;
    const pool = { feePips, tickSpacing: feePips / 50, token0: ZERO_ADDRESS, token1: ZERO_ADDRESS };
    const state = protocol.hasSync ? synced : before;
    const quote = protocol.quote({ ...pool, poolType: protocol.poolTypes[0] }, state, into, isToken0In);
    if (quote === null) continue;
    expect([log.transactionHash, quote]).toEqual([log.transactionHash, out]);
    matches[worldPool.protocol] += 1;
  }
  expect(Math.min(...Object.values(matches))).toBeGreaterThan(5);
});

test('the owner, pool, range and liquidity of every position equal the answers of its manager', async () => {
  const owner = world.accounts[1]!;
  const { position_events: before } = await decodeChain();
  const mine = before.find(({ kind, recipient }) => kind === 'transfer' && recipient === owner)!.token_id;
  const { liquidity } = before.find(({ token_id, kind }) => token_id === mine && kind === 'increase')!;
  await sendManager(owner, 'decreaseLiquidity', [[mine, liquidity / 3n, 0, 0, FAR_FUTURE]]);
  await sendManager(owner, 'collect', [[mine, owner, MAX_UINT128, MAX_UINT128]]);
  await sendManager(owner, 'increaseLiquidity', [[mine, 10n ** 6n, 10n ** 6n, 0, 0, FAR_FUTURE]]);
  await sendManager(owner, 'transferFrom', [owner, world.accounts[9]!, mine]);
  await builder.finish();
  const { position_events } = await decodeChain();
  expect(new Set(position_events.map(({ kind }) => kind))).toEqual(
    new Set(['transfer', 'increase', 'decrease', 'collect']),
  );
  for (const id of new Set(position_events.map(({ token_id }) => token_id))) {
    const own = position_events.filter(({ token_id }) => token_id === id);
    const sum = (kind: string): bigint =>
      own.filter((event) => event.kind === kind).reduce((total, event) => total + event.liquidity, 0n);
    const data = encodeCall(MANAGER, 'positions', [id]);
    const answer = await rpc.call('eth_call', [{ to: world.v3.positionManager, data }, 'latest']);
    const told = MANAGER.decodeFunctionResult('positions', String(answer)).toObject();
    const { pair, tick_lower, tick_upper } = own.find(({ kind }) => kind === 'increase')!;
    const pool = world.pools.find(({ address }) => address === pair)!;
    expect([sum('increase') - sum('decrease'), BigInt(tick_lower), BigInt(tick_upper)]).toEqual([
      told['liquidity'],
      told['tickLower'],
      told['tickUpper'],
    ]);
    expect([pool.token0.address, pool.token1.address, BigInt(pool.feePips)]).toEqual([
      String(told['token0']).toLowerCase(),
      String(told['token1']).toLowerCase(),
      told['fee'],
    ]);
    const holder = own.filter(({ kind }) => kind === 'transfer').at(-1)!.recipient;
    const ownerOf = await readContract(rpc, MANAGER, world.v3.positionManager, 'ownerOf', [id]);
    expect(holder).toBe(String(ownerOf).toLowerCase());
  }
});

test('the pending LP tokens after a liquidity event equal the LP tokens that the pair then mints to the protocol', async () => {
  const pool = world.pools[TEST_POOLS.wplsUsdc]!;
  const { factory, router } = world.v2[0]!;
  const [deployer, wallet, feeTo] = [world.accounts[0]!, world.accounts[1]!, world.accounts[11]!];
  const setter = String(await readContract(rpc, READS, factory, 'feeToSetter')).toLowerCase();
  expect(setter).toBe(deployer);
  await builder.send(deployer, factory, encodeCall(READS, 'setFeeTo', [feeTo]), GAS);
  const reserves = async (): Promise<{ reserve0: bigint; reserve1: bigint }> => {
    const data = encodeCall(READS, 'getReserves', []);
    const answer = await rpc.call('eth_call', [{ to: pool.address, data }, 'latest']);
    const [reserve0, reserve1] = READS.decodeFunctionResult('getReserves', String(answer));
    return { reserve0: BigInt(reserve0), reserve1: BigInt(reserve1) };
  };
  const sides = [pool.token0.address, pool.token1.address];
  const addLiquidity = async (): Promise<void> => {
    const small = sides.map((_, index) => 10n ** BigInt([pool.token0, pool.token1][index]!.decimals));
    const values = [...sides, ...small, 0, 0, wallet, FAR_FUTURE];
    await builder.send(wallet, router, encodeCall(V2_ROUTER, 'addLiquidity', values), GAS);
    await builder.finish();
  };
  await addLiquidity();
  const last = await reserves();
  for (let i = 0; i < 6; i += 1) {
    const path = i % 2 === 0 ? sides : [...sides].reverse();
    const decimals = (i % 2 === 0 ? pool.token0 : pool.token1).decimals;
    const values = [50n * 10n ** BigInt(decimals), 0, path, wallet, FAR_FUTURE];
    await builder.send(wallet, router, encodeCall(V2_ROUTER, 'swapExactTokensForTokens', values), GAS);
  }
  await builder.finish();
  const now = await reserves();
  const supply = BigInt(String(await readContract(rpc, READS, pool.address, 'totalSupply')));
  const pending = pendingProtocolLp(supply, now, last, 1 / 6);
  await addLiquidity();
  const given = BigInt(String(await readContract(rpc, READS, pool.address, 'balanceOf', [feeTo])));
  expect(given > 0n).toBe(true);
  // The share is stored as a float of twelve digits.
  expect(Math.abs(Number(pending) / Number(given) - 1)).toBeLessThan(1e-9);
});
