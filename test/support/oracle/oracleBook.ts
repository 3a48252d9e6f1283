/**
 * The oracle for Liquidity Book pools: applies every event to plain numbers, with prices as exact fractions. Shares no code
 * with the product.
 */
import type { LegSwap } from './oracleVault';
import { addTo, PairOracle, type LogPlace, type OraclePair, type StateParts } from './pairOracle';
import { plainEvents, type PlainEvent } from './plainEvents';

const EVENTS = plainEvents([
  ['create', 'LBPairCreated(address indexed,address indexed,uint256 indexed,address,uint256)'],
  ['swap', 'Swap(address indexed,address indexed,uint24,bytes32,bytes32,uint24,bytes32,bytes32)'],
  ['mint', 'DepositedToBins(address indexed,address indexed,uint256[],bytes32[])'],
  ['burn', 'WithdrawnFromBins(address indexed,address indexed,uint256[],bytes32[])'],
  ['flash', 'FlashLoan(address indexed,address indexed,uint24,bytes32,bytes32,bytes32)'],
]);
const MIDDLE_ID = 2 ** 23;
/** The contract has no price this many bins from the middle. */
const BINS_MAX = 2 ** 20;
/** The fee of a DEX without a fee in its description, and the largest base fee that counts. */
const USUAL_FEE_PIPS = 3_000;
const FEE_PIPS_MAX = 100_000;

/** What the contracts of a pool answer. */
interface BookTruth {
  /** The state of an older pool before its first block; null if no node tells it. */
  readonly state: { readonly reserves: readonly [bigint, bigint]; readonly activeId: number } | null;
  readonly baseFactor: number;
}

interface Pool extends OraclePair {
  readonly binStep: number;
  readonly baseFeePips: number;
  /** Whether a node told the first state. */
  readonly isTold: boolean;
  /** The active bin; 0 before the first swap. */
  id: number;
}

type Pair = readonly [x: bigint, y: bigint];

export class BookOracle extends PairOracle<Pool> {
  constructor(
    factory: string,
    firstBlock: number,
    private readonly truthOf: (pool: string) => BookTruth | undefined,
  ) {
    super(factory, firstBlock, EVENTS);
  }

  protected create({ name, args }: PlainEvent, isIngested: boolean): Pool | null {
    const [token0, token1, , address] = args.map(String);
    const truth = this.truthOf(address ?? '');
    if (name !== 'create' || truth === undefined) return null;
    const binStep = Number(args[2]);
    const state = isIngested ? null : truth.state;
    const feePips = Math.round((truth.baseFactor * binStep) / 100);
    return {
      address: address!,
      token0: token0!,
      token1: token1!,
      isListed: false,
      binStep,
      baseFeePips: feePips > FEE_PIPS_MAX ? USUAL_FEE_PIPS : feePips,
      reserves: state?.reserves ?? [0n, 0n],
      id: state?.activeId ?? 0,
      isTold: state !== null,
    };
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, place: LogPlace): LegSwap | null {
    if (name === 'swap') return this.swap(pool, args, place);
    const [sender, recipient] = args.map(String);
    if (name === 'flash') {
      const [fees, kept] = [halves(args[4]), halves(args[5])];
      this.change(pool, place, name, sender!, [fees[0] - kept[0], fees[1] - kept[1]]);
    } else {
      const amounts = (args[3] as string[]).map(halves);
      const sum = (side: 0 | 1): bigint => amounts.reduce((total, one) => total + one[side], 0n);
      this.change(pool, place, name, recipient!, [sum(0), sum(1)]);
    }
    return null;
  }

  private change(pool: Pool, place: LogPlace, kind: string, owner: string, [x, y]: Pair): void {
    const sign = kind === 'burn' ? -1n : 1n;
    pool.reserves = addTo(pool.reserves, sign * x, sign * y);
    this.liquidity.push([place.ord, pool.address, kind, owner, String(x), String(y), null, null, null]);
    this.note(pool, place, kind, { tick: pool.id });
  }

  /** The trader paid what stays in the bin, and the part of the fee for the protocol. */
  private swap(pool: Pool, args: PlainEvent['args'], place: LogPlace): LegSwap | null {
    const [stayed, out, fees, kept] = [args[3], args[4], args[6], args[7]].map(halves);
    const paid = [stayed![0] + kept![0], stayed![1] + kept![1]] as const;
    const [amountIn, fee] = [paid[0] + paid[1], fees![0] + fees![1]];
    if (amountIn === 0n || fee > amountIn) return null;
    pool.reserves = addTo(pool.reserves, stayed![0] - out![0], stayed![1] - out![1]);
    pool.id = Number(args[2]);
    this.note(pool, place, 'swap', { tick: pool.id });
    const { address: pair, token0, token1, reserves } = pool;
    return {
      pair,
      leg: 1,
      token0,
      token1,
      amount0: paid[0] - out![0],
      amount1: paid[1] - out![1],
      reserve0: reserves[0],
      reserve1: reserves[1],
      price: binPriceOf(pool),
      // Half a pip counts as a whole one.
      feePips: Number((2_000_000n * fee + amountIn) / (2n * amountIn)),
    };
  }

  protected toldState({ id, isTold }: Pool): StateParts | null {
    return isTold ? { tick: id } : null;
  }

  protected feeOf({ baseFeePips }: Pool): number {
    return baseFeePips;
  }
}

/** (1 + step / 10⁴)^(id − 2²³) */
export function binPriceOf({ id, binStep }: Pick<Pool, 'id' | 'binStep'>): readonly [bigint, bigint] | null {
  const exponent = id - MIDDLE_ID;
  if (Math.abs(exponent) >= BINS_MAX) return null;
  const [large, small] = [BigInt(10_000 + binStep), 10_000n].map(
    (base) => base ** BigInt(Math.abs(exponent)),
  );
  return exponent < 0 ? [small!, large!] : [large!, small!];
}

/** The two amounts of a bytes32: tokenX in the lower half. */
export function halves(word: unknown): Pair {
  const value = BigInt(String(word));
  return [value % 2n ** 128n, value / 2n ** 128n];
}
