/** Expected holdings of a wallet by plain computation: balances one by one, LP shares and positions as
 * floats. */
import { formatUnits } from '../../../../src/domain/amounts';
import { ZERO_ADDRESS } from '../../../../src/domain/hex';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import type { PoolRow } from '../../../../src/clickhouse/schema/tables';
import { CHAIN } from '../../../support/server/apiServer';
import { priceNow, statesOf, trusted, upTo } from '../market/plainMarket';
import { plainBalances, sentToZero, type Moves } from './transferWorld';
import type { World } from '../../../support/worlds/world';

interface PlainToken {
  readonly address: string;
  readonly raw: bigint;
  readonly balance: string;
  readonly usd: number | null;
  readonly value: number | null;
  readonly confidence: number;
}

interface PlainPosition {
  readonly id: string;
  readonly pair: string;
  readonly raw: string;
  readonly share: number | null;
  /** Raw amounts, in the order of the pool's tokens. */
  readonly amounts: readonly (number | null)[];
  readonly value: number | null;
  readonly trusted: boolean;
  readonly ticks: readonly [number, number] | null;
  readonly inRange: boolean | null;
}

export interface PlainPortfolio {
  readonly tokens: readonly PlainToken[];
  readonly positions: readonly PlainPosition[];
  readonly negative: boolean;
}

/** The test chain at one head. */
interface At {
  readonly world: World;
  readonly head: HeadSnapshot;
  readonly moves: readonly Moves[];
}

export function plainPortfolio(at: At, wallet: string): PlainPortfolio {
  const balances = plainBalances(at.moves);
  const pools = upTo(at.world, at.head, (block) => block.pools);
  const tokens: PlainToken[] = [];
  const positions: PlainPosition[] = [];
  let negative = false;
  for (const [token, holders] of balances) {
    const raw = holders.get(wallet) ?? 0n;
    if (raw < 0n) negative = true;
    if (raw <= 0n) continue;
    const pool = pools.find(({ address, pool_type }) => address === token && pool_type !== 3);
    if (pool === undefined) tokens.push(plainToken(at, token, raw));
    else {
      const sent = pool.pool_type === 2 ? sentToZero(at.moves, token) : 0n;
      positions.push(plainShare(at, pool, raw, sent - (holders.get(ZERO_ADDRESS) ?? 0n)));
    }
  }
  positions.push(...plainNfts(at, pools, wallet));
  return { tokens, positions, negative };
}

const decimalsIn = (world: World, token: string): number =>
  world.tokens.find(({ address }) => address === token)?.decimals ?? 0;

function plainToken({ world, head }: At, address: string, raw: bigint): PlainToken {
  const { usd, confidence } = priceNow(world, head, address);
  const decimals = decimalsIn(world, address);
  const value = usd === null ? null : (Number(raw) / 10 ** decimals) * usd;
  return { address, raw, balance: formatUnits(raw, decimals), usd, value, confidence };
}

function valueOf(
  { world, head }: At,
  tokens: readonly string[],
  amounts: readonly (number | null)[],
): Pick<PlainPosition, 'value' | 'trusted'> {
  const prices = tokens.map((token) => priceNow(world, head, token));
  let value: number | null = 0;
  tokens.forEach((token, i) => {
    const { usd } = prices[i]!;
    const amount = amounts[i]!;
    value =
      value === null || usd === null || amount === null
        ? null
        : value + (amount / 10 ** decimalsIn(world, token)) * usd;
  });
  return { value, trusted: prices.every(trusted) };
}

/** Value of LP tokens, diluted by the protocol's pending mint as in UniswapV2Pair's _mintFee. */
function plainShare(at: At, pool: PoolRow, raw: bigint, minted: bigint): PlainPosition {
  const state = statesOf(at.world, at.head, pool).at(-1);
  const tokens = pool.tokens.length > 0 ? pool.tokens : [pool.token0, pool.token1];
  const share = CHAIN.dexes.find(({ name }) => name === pool.dex)?.protocolFeeShare ?? 0;
  const lastEvent = upTo(at.world, at.head, (block) => block.liquidity)
    .filter(({ pair }) => pair === pool.address)
    .at(-1);
  const states = statesOf(at.world, at.head, pool);
  const last = lastEvent === undefined ? undefined : states.filter(({ ord }) => ord < lastEvent.ord).at(-1);
  let supply = Number(minted);
  if (pool.pool_type === 2 && share > 0 && last !== undefined && state !== undefined) {
    const root = Math.sqrt(Number(state.reserve0) * Number(state.reserve1));
    const rootLast = Math.sqrt(Number(last.reserve0) * Number(last.reserve1));
    if (root > rootLast) supply += (supply * (root - rootLast)) / ((1 / share - 1) * root + rootLast);
  }
  const held =
    pool.pool_type === 2 ? [state?.reserve0, state?.reserve1] : tokens.map((_, i) => state?.balances[i]);
  const amounts = held.map((amount) =>
    amount === undefined ? null : (Number(amount) * Number(raw)) / supply,
  );
  return {
    id: pool.address,
    pair: pool.address,
    raw: raw.toString(),
    share: (Number(raw) / supply) * 100,
    amounts,
    ...valueOf(at, tokens, amounts),
    ticks: null,
    inRange: null,
  };
}

/** Positions, computed from their own events. The last recipient is the owner. */
function plainNfts(at: At, pools: readonly PoolRow[], wallet: string): PlainPosition[] {
  const events = at.moves.flatMap(({ positions }) => positions);
  const ids = new Set(events.map(({ manager, token_id }) => `${manager}-${token_id}`));
  return [...ids].flatMap((id): PlainPosition[] => {
    const own = events.filter(({ manager, token_id }) => `${manager}-${token_id}` === id);
    const owner = own.filter(({ kind }) => kind === 'transfer').at(-1)?.recipient;
    const first = own.find(({ kind }) => kind === 'increase');
    const pool = pools.find(({ address }) => address === first?.pair);
    const sum = (kind: string): bigint =>
      own.filter((event) => event.kind === kind).reduce((total, { liquidity }) => total + liquidity, 0n);
    const liquidity = sum('increase') - sum('decrease');
    if (owner !== wallet || first === undefined || pool === undefined || liquidity <= 0n) return [];
    const state = statesOf(at.world, at.head, pool).at(-1);
    const [lower, upper] = [first.tick_lower, first.tick_upper];
    const amounts =
      state === undefined
        ? [null, null]
        : plainAmounts(Number(state.sqrt_price_x96) / 2 ** 96, lower, upper, Number(liquidity));
    const inRange = state === undefined ? null : state.tick >= lower && state.tick < upper;
    const part = Number(liquidity) / Number(state?.liquidity ?? 0);
    return [
      {
        id,
        pair: pool.address,
        raw: liquidity.toString(),
        share: inRange === null ? null : !inRange ? 0 : part > 1 ? null : part * 100,
        amounts,
        ...valueOf(at, [pool.token0, pool.token1], amounts),
        ticks: [lower, upper],
        inRange,
      },
    ];
  });
}

/** The formulas 6.29 and 6.30 of the Uniswap V3 whitepaper, in floats. */
function plainAmounts(root: number, lower: number, upper: number, liquidity: number): [number, number] {
  const [from, to] = [1.0001 ** (lower / 2), 1.0001 ** (upper / 2)];
  const at = Math.min(Math.max(root, from), to);
  return [liquidity * (1 / at - 1 / to), liquidity * (at - from)];
}
