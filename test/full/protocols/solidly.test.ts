/**
 * Solidly pools on a real node, with random trades, mints, burns and fee changes. After each block, our reserves, prices,
 * fees and quotes must equal the answers of the contracts and the tokens that moved.
 */
import { readContract } from '../../../src/dev/abi';
import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import type { ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_STABLE, POOL_V2 } from '../../../src/domain/pools/poolShape';
import { createLog } from '../../../src/log';
import type { PoolTerms } from '../../../src/protocols/protocol';
import { solidly } from '../../../src/protocols/solidly/solidly';
import { recordOracle } from '../../support/protocols/protocolTable';
import { balancesOf, readBigInt } from '../../support/protocols/poolMarket';
import { Random } from '../../support/random';
import {
  deploySolidly,
  quotedPrice,
  SOLIDLY_FACTORY,
  SOLIDLY_POOL,
  SOLIDLY_TRADER,
  type SolidlyMarket,
  type SolidlyPool,
} from '../../support/solidly/solidlyMarket';

const SEED = 7;
const ROUNDS = 80;
const DECIMALS = [0, 6, 8, 18, 30] as const;
/** Fees that the managers set, in basis points; 420 stands for no fee. */
const FEES = [1, 30, 300, 420] as const;
/** A fee that no pool has, to tell apart swaps whose fee does not follow from the reserves. */
const NO_FEE = 999_999;

let anvil: Anvil;
let rpc: DevRpc;
let market: SolidlyMarket;
const pools: SolidlyPool[] = [];
const states = new Map<Hex, PoolState>();

beforeAll(async () => {
  anvil = await startAnvil({ log: createLog('silent', false), timestamp: 1_700_000_000 });
  rpc = openDevRpc(anvil.url);
  market = await deploySolidly(rpc, DECIMALS);
  const random = new Random(SEED);
  for (const [index, a] of market.tokens.entries()) {
    const b = market.tokens[(index + 1) % market.tokens.length]!;
    for (const isStable of [false, true]) {
      pools.push(await market.createPool((index + Number(isStable)) % 2 === 0, isStable, a, b));
    }
  }
  for (const { address, isStable, token0, token1 } of pools) {
    const amounts = [token0, token1].map(({ decimals }) => {
      const tokens = isStable ? random.int(900_000, 1_100_000) : random.int(100_000, 9_000_000);
      return BigInt(tokens) * 10n ** BigInt(decimals);
    });
    market.add(market.trader, SOLIDLY_TRADER, 'mint', [address, ...amounts]);
  }
  await follow(await market.mine());
});

afterAll(async () => {
  await rpc?.close();
  await anvil?.stop();
});

interface Swapped {
  readonly pool: SolidlyPool;
  readonly amounts: readonly [bigint, bigint];
  readonly before: PoolState;
  /** Our fee in pips. */
  readonly fee: number;
  /** What the Fees event of the swap says, in the token that came in. */
  readonly feeLogged: bigint;
}

/** Reads the logs of a block as the ingester does, and returns its swaps. */
async function follow(block: number): Promise<Swapped[]> {
  const receipts = (await rpc.call('eth_getBlockReceipts', [numberToHex(block)])) as { logs: ChainLog[] }[];
  const swaps: Swapped[] = [];
  for (const { logs } of receipts) {
    let before = EMPTY_STATE;
    let feeLogged = 0n;
    for (const log of logs) {
      const pool = pools.find(({ address }) => address === log.address);
      if (pool === undefined) continue;
      if (log.topics[0] === '0x112c256902bf554b6ed882d2936687aaeb4225e8cd5b51303c90ca6cf43a8602')
        feeLogged += BigInt(log.data.slice(0, 66)) + BigInt(`0x${log.data.slice(66)}`);
      const event = solidly.decodeEvent(log);
      if (event === null) continue;
      const state = states.get(pool.address) ?? EMPTY_STATE;
      if (event.kind === 'sync') {
        before = state;
        states.set(pool.address, solidly.applyEvent(state, event));
      }
      if (event.kind !== 'swap') continue;
      const amounts = [event.amount0, event.amount1] as const;
      const fee = solidly.swapFeePips(pricedOf(pool, NO_FEE), event, before, state);
      swaps.push({ pool, amounts, before, fee, feeLogged });
    }
  }
  return swaps;
}

/** Adds a random action to the next block. Returns a fee change, which belongs at the end of the block. */
function addAction(pool: SolidlyPool, random: Random): (() => void) | null {
  const { reserve0, reserve1 } = states.get(pool.address)!;
  const action = random.next();
  const part = BigInt(Math.round(10 ** -(0.7 + 3.3 * random.next()) * 1e9));
  const [share0, share1] = [reserve0, reserve1].map((reserve) => (reserve * part) / 1_000_000_000n);
  if (action < 0.75) {
    const zeroForOne = random.chance(0.5);
    const values = [pool.address, zeroForOne, zeroForOne ? share0 : share1];
    market.add(market.trader, SOLIDLY_TRADER, 'swap', values);
  } else if (action < 0.85) market.add(market.trader, SOLIDLY_TRADER, 'mint', [pool.address, share0, share1]);
  else if (action < 0.93)
    market.add(market.trader, SOLIDLY_TRADER, 'burn', [pool.address, part, 1_000_000_000n]);
  else
    return () =>
      pool.isSecond
        ? market.add(pool.factory, SOLIDLY_FACTORY, 'setCustomFee', [pool.address, random.pick(FEES)])
        : market.add(pool.factory, SOLIDLY_FACTORY, 'setFee', [pool.isStable, random.pick(FEES.slice(0, 3))]);
  return null;
}

const read = (to: Hex, name: string) => readBigInt(rpc, SOLIDLY_POOL, to, name);

/** The pool as the ingester knows it, with this fee. */
const pricedOf = ({ isStable, token0, token1 }: SolidlyPool, feePips: number): PoolTerms => ({
  poolType: isStable ? POOL_STABLE : POOL_V2,
  token0: token0.address,
  token1: token1.address,
  feePips,
  tickSpacing: 0,
  scaleDecimals: [token0.decimals, token1.decimals],
});

test('prices, reserves, fees and quotes equal the contracts over random trades', async () => {
  const random = new Random(SEED);
  const [swapsOf, feesHeld] = [{ stable: 0, volatile: 0 }, new Map<Hex, readonly bigint[]>()];
  /** The fee of each pool before the next block, in basis points. */
  const fees = new Map<Hex, bigint>();
  for (const { address } of pools) fees.set(address, await read(address, 'fee'));
  let worst = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const change of pools.map((pool) => addAction(pool, random))) change?.();
    const swaps = await follow(await market.mine());
    for (const { pool, amounts, before, fee, feeLogged } of swaps) {
      const zeroForOne = amounts[0] > 0n;
      const [amountIn, amountOut] = zeroForOne ? amounts : [amounts[1], amounts[0]];
      const box = String(await readContract(rpc, SOLIDLY_POOL, pool.address, 'fees')) as Hex;
      const held = await balancesOf(rpc, pool, box);
      const heldBefore = feesHeld.get(pool.address) ?? [0n, 0n];
      const moved = held[0] + held[1] - heldBefore[0]! - heldBefore[1]!;
      feesHeld.set(pool.address, held);
      expect(moved).toBe(feeLogged);
      expect(fee).toBe(Math.round(Number((moved * 10n ** 18n) / amountIn) / 1e12));
      const bps = fees.get(pool.address)!;
      expect(moved).toBe((amountIn * bps) / 10_000n);
      const quote = solidly.quote(pricedOf(pool, Number(bps) * 100), before, amountIn, zeroForOne);
      expect(quote).toBe(-amountOut);
      swapsOf[pool.isStable ? 'stable' : 'volatile'] += 1;
    }
    for (const pool of pools) {
      const state = states.get(pool.address)!;
      expect(await balancesOf(rpc, pool)).toEqual([state.reserve0, state.reserve1]);
      const price = solidly.spotPrice(state, pricedOf(pool, NO_FEE))!;
      const quoted = await quotedPrice(rpc, pool, [state.reserve0, state.reserve1]);
      worst = Math.max(worst, Math.abs(price / quoted - 1));
      fees.set(pool.address, await read(pool.address, 'fee'));
    }
  }
  expect(swapsOf.stable).toBeGreaterThan(250);
  expect(swapsOf.volatile).toBeGreaterThan(250);
  recordOracle({
    protocol: 'solidly',
    oracle: 'own contracts by the published formulas, `getAmountOut`',
    trades: swapsOf.stable + swapsOf.volatile,
    deviation: worst,
  });
});
