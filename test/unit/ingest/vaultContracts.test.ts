/**
 * Recorded blocks of a real Balancer vault on a development chain: weighted pools of two, three and four tokens, and a
 * composable stable pool. The fixture contains the logs. For each block it also contains the contracts' answers:
 * getPoolTokens, getNormalizedWeights, getSwapFeePercentage, getAmplificationParameter, getGradualWeightUpdateParams.
 * All tokens have 18 decimals, and no token has a rate provider.
 */
import { AbiCoder } from 'ethers';

import recorded from '../../golden/logs/balancerContracts.json';
import type { ChainBlock } from '../../../src/domain/block';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { blockOfOrd } from '../../../src/domain/ord';
import type { BlockFacts } from '../../../src/ingest/rows/blockRows';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import { ManyTokenDiscovery } from '../../../src/ingest/pools/discoverManyTokenPools';
import { PoolRegistry } from '../../../src/ingest/pools/poolRegistry';
import { createLog } from '../../../src/log';
import { balancerV2 } from '../../../src/protocols/balancerV2/balancerV2';
import { answeringCalls, contextOf, type Asked } from '../../support/node/vaultSetup';

const ONE = 10n ** 18n;
/** The stable pool's amplification, 200, with the precision of the contract. */
const AMP = 200_000n;
const addressOf = (poolId: Hex): Hex => poolId.slice(0, 42) as Hex;

interface PoolAnswers {
  readonly books: Hex | null;
  /** The answers of the contracts, in the order of the functions in SELECTORS. */
  readonly pool: readonly (Hex | null)[];
}

const coder = AbiCoder.defaultAbiCoder();
const GET_POOL_TOKEN_INFO = '0xb05f8e48';
const SELECTORS = ['0xf89f27ed', '0x55c67628', '0x6daccffa', '0x7beed220'];
/** The answers to getScalingFactors() and getRateProviders(), by the data of the calls. */
const SCALES: Readonly<Record<string, Hex>> = {
  '0x1dd746ea': coder.encode(['uint256[]'], [Array(3).fill(ONE)]) as Hex,
  '0x238a2d59': coder.encode(['address[]'], [Array(3).fill(ZERO_ADDRESS)]) as Hex,
};
const VAULT = recorded.vault as Hex;
const POOLS = recorded.pools as Hex[];
const ANSWERS = recorded.answers as unknown as Readonly<
  Record<string, Readonly<Record<string, PoolAnswers>>>
>;
const BLOCKS: readonly ChainBlock[] = recorded.blocks.map(({ from, ...block }) => ({
  ...(block as Pick<ChainBlock, 'number' | 'hash' | 'parentHash' | 'timestamp' | 'logs'>),
  baseFeePerGas: null,
  transactionCount: from.length,
  transactions: from.map((sender, index) => ({
    hash: ZERO_ADDRESS,
    index,
    from: sender as Hex,
    effectiveGasPrice: null,
    gasUsed: null,
    contractAddress: null,
  })),
}));
const FIRST = BLOCKS[0]!.number;
const LAST = BLOCKS.at(-1)!;

/** The contracts' answers for the pool at a block: the newest record up to the block. */
function answersAt(poolId: string, number: number): PoolAnswers | undefined {
  for (let at = number; at >= FIRST; at -= 1) {
    const found = ANSWERS[String(at)]?.[poolId];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** getPoolTokenInfo, from the recorded totals: these pools have no asset managers. */
function infoOf(books: Hex | null, data: Hex): Hex | null {
  if (books === null) return null;
  const [tokens, balances] = coder.decode(['address[]', 'uint256[]', 'uint256'], books);
  const index = [...tokens].findIndex((one: string) => data.endsWith(one.slice(2).toLowerCase()));
  const types = ['uint256', 'uint256', 'uint256', 'address'];
  return coder.encode(types, [balances[index], 0n, 0n, ZERO_ADDRESS]) as Hex;
}

function answer({ to, data, at }: Asked): Hex | null {
  const hash = typeof at === 'object' ? at.blockHash : null;
  const after = BLOCKS.find((block) => block.hash === hash)?.number;
  const before = BLOCKS.find((block) => block.parentHash === hash)?.number;
  const number =
    at === 'latest' ? LAST.number : hash === null ? Number(at) : (after ?? (before ?? FIRST) - 1);
  const poolId = POOLS.find((id) => (to === VAULT ? id.slice(2) === data.slice(10, 74) : id.startsWith(to)));
  const known = poolId === undefined ? undefined : answersAt(poolId, number);
  if (to === VAULT && data.startsWith(GET_POOL_TOKEN_INFO)) return infoOf(known?.books ?? null, data);
  if (to === VAULT) return known?.books ?? null;
  if (known === undefined || known.books === null) return null;
  return SCALES[data] ?? known.pool[SELECTORS.indexOf(data.slice(0, 10))] ?? null;
}

/** Balances and fee from the contracts' answers. */
function truthAt(poolId: Hex, number: number) {
  const { books, pool } = answersAt(poolId, number)!;
  const [tokens, balances] = coder.decode(['address[]', 'uint256[]', 'uint256'], books!);
  const weights = pool[0] == null ? null : [...coder.decode(['uint256[]'], pool[0])[0]];
  const own = addressOf(poolId);
  const scales = [...tokens].map((token: string) => (token.toLowerCase() === own ? 0n : ONE));
  return {
    poolId,
    tokens: [...tokens].map((token: string) => token.toLowerCase()),
    balances: [...balances],
    weights,
    swapFee: coder.decode(['uint256'], pool[1]!)[0],
    // No swap of a real pool may ever raise a doubt.
    doubts: 0,
    params: weights === null ? [AMP, AMP, 0n, 0n, ...scales] : [],
  };
}

/** Ingests the blocks from `first` on. Returns all rows, and calls `each` after every block. */
async function readFrom(first: number, reversible: boolean, each?: (number: number) => void) {
  const registry = new PoolRegistry();
  const context = contextOf(registry);
  const discovery = new ManyTokenDiscovery({
    rpc: answeringCalls(answer),
    dexes: [{ name: 'phux', displayName: 'PHUX', protocol: 'balancer_v2', factory: VAULT }],
    baseIsToken0: context.baseIsToken0,
    quoteRank: () => Infinity,
    log: createLog('silent', false),
  });
  const all: BlockFacts[] = [];
  for (const block of BLOCKS.filter(({ number }) => number >= first)) {
    const findings = await discovery.discover([block], registry, reversible);
    all.push(decodeBlock(context, block, findings, reversible));
    each?.(block.number);
  }
  return { registry, all };
}

describe('recorded pools of a real Balancer vault are decoded as their contracts answer', () => {
  it('recorded vault pools have the balances, weights and fee of the contracts after each block', async () => {
    let compared = 0;
    const registries: PoolRegistry[] = [];
    const { registry } = await readFrom(FIRST, true);
    registries.push(registry);
    // Rewinding block by block must restore the state of each block.
    for (let number = LAST.number; number >= FIRST; number -= 1) {
      registry.rewindTo(number);
      for (const poolId of POOLS) {
        const known = registry.findManyTokenPool(addressOf(poolId));
        const books = answersAt(poolId, number)?.books ?? null;
        if (known === undefined) {
          // Before the registration of the pool, calls to the vault about the pool revert.
          expect(books).toBeNull();
          continue;
        }
        expect(known.state).toEqual(truthAt(poolId, number));
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(BLOCKS.length);
  });

  it('recorded vault pools have the same state when the history begins at any later block', async () => {
    for (const first of BLOCKS.map(({ number }) => number)) {
      const { registry, all } = await readFrom(first, first % 2 === 0);
      const touched = new Set(
        BLOCKS.filter(({ number }) => number >= first).flatMap(({ logs }) =>
          logs.filter(({ address }) => address === VAULT).map(({ topics }) => topics[1]!),
        ),
      );
      expect(registry.size).toBe(touched.size);
      expect(all.reduce((sum, rows) => sum + rows.pools.length, 0)).toBe(touched.size);
      for (const poolId of touched) {
        expect(registry.findManyTokenPool(addressOf(poolId))?.state).toEqual(truthAt(poolId, LAST.number));
      }
    }
  });

  it('recorded vault pools are listed with their type and the leg with the largest weights, never with their own token', async () => {
    const { all } = await readFrom(FIRST, false);
    const rows = all.flatMap((each) => each.pools);
    expect(rows.map((row) => [row.address, row.pool_type])).toEqual(
      POOLS.map((poolId, index) => [addressOf(poolId), index === 3 ? 5 : 4]),
    );
    // Weights of the four pools: 0.8 0.2; 0.25 0.5 0.25; 0.1 0.3 0.3 0.3; none.
    const legs = rows.map(({ tokens, token0, token1 }) => [tokens.indexOf(token0), tokens.indexOf(token1)]);
    expect(legs.slice(0, 3)).toEqual([
      [0, 1],
      [0, 1],
      [1, 2],
    ]);
    const stable = rows[3]!;
    expect(stable.tokens).toContain(stable.address);
    expect([stable.token0, stable.token1]).toEqual(stable.tokens.filter((token) => token !== stable.address));
    expect(stable.weights).toEqual([]);
    expect(rows.every((row) => row.created_block !== null && row.factory === VAULT)).toBe(true);
  });

  it('swaps of recorded vault pools have prices between the pool price before and after the swap', async () => {
    const { all } = await readFrom(FIRST, false);
    const swaps = all.flatMap((rows) => rows.swaps);
    const priced = swaps.filter((swap) => swap.pool_type === 4);
    expect(priced.length).toBeGreaterThan(20);
    for (const { amount0, amount1, reserve0, reserve1, price, fee_pips } of priced) {
      const before0 = Number(reserve0 - amount0);
      const before1 = Number(reserve1 - amount1);
      const before = ((price * before1) / Number(reserve1) / before0) * Number(reserve0);
      const kept = 1 - fee_pips / 1e6;
      const paid =
        amount0 > 0n
          ? -Number(amount1) / (Number(amount0) * kept)
          : (Number(amount1) * kept) / -Number(amount0);
      expect(paid).toBeGreaterThan(Math.min(before, price) * (1 - 1e-6));
      expect(paid).toBeLessThan(Math.max(before, price) * (1 + 1e-6));
    }
  });

  it('a swap of the recorded stable pool pays out what the formula says, to the last unit', async () => {
    const at56 = await readFrom(FIRST, true);
    const [row] = at56.all.flatMap(({ swaps }) => swaps.filter(({ pool_type: type }) => type === 5));
    const { ord, pair, timestamp, amount0, amount1, price } = row!;
    at56.registry.rewindTo(blockOfOrd(ord) - 1);
    const { state } = at56.registry.findManyTokenPool(pair)!;
    const [into, out] = amount0 > 0n ? [amount0, amount1] : [amount1, amount0];
    const i = state.tokens.indexOf(amount0 > 0n ? row!.token0 : row!.token1);
    const j = state.tokens.indexOf(amount0 > 0n ? row!.token1 : row!.token0);
    expect(balancerV2.quote(state, i, j, into, timestamp)).toBe(-out);
    // The pool holds about 100,000 of each token and has an amplification of 200, so it trades at about 1.
    expect(Math.abs(price - 1)).toBeLessThan(1e-4);
    expect(balancerV2.spotPrice(state, i, state.tokens.indexOf(pair), timestamp)).toBeNull();
    // A restart reads the params from the newest state row, also before the first trade.
    const states = at56.all.flatMap((facts) => facts.pool_states.filter((one) => one.pair === pair));
    expect(states[0]).toMatchObject({ kind: 'register', balances: [0n, 0n, 0n] });
    expect(states.every(({ params }) => params.length === 7)).toBe(true);
  });

  it('recorded vault pools have one mint or burn for each join or exit', async () => {
    const { all } = await readFrom(FIRST, false);
    const events = all.flatMap((rows) => rows.liquidity_events);
    const logs = BLOCKS.flatMap((block) => block.logs);
    const joins = logs.filter(({ topics }) => topics[0]!.startsWith('0xe5ce2490'));
    // The stable pool also joins and exits by swaps of its own share.
    const bySwap = logs.filter(
      ({ topics: [topic, poolId, ...tokens] }) =>
        topic!.startsWith('0x2170c741') && tokens.some((token) => token.slice(26) === poolId!.slice(2, 42)),
    );
    expect(bySwap.length).toBeGreaterThan(0);
    expect(events.length).toBe(joins.length + bySwap.length);
    const swaps = all.flatMap((rows) => rows.swaps);
    expect(swaps.some(({ pair, token0, token1 }) => [token0, token1].includes(pair))).toBe(false);
    expect(new Set(events.map((event) => event.kind))).toEqual(new Set(['mint', 'burn']));
    const fees = joins.flatMap(({ data }) => [
      ...coder.decode(['address[]', 'int256[]', 'uint256[]'], data)[2],
    ]);
    expect(fees.some((fee: bigint) => fee > 0n)).toBe(true);
  });
});
