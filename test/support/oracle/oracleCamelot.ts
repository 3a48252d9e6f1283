/**
 * The oracle for Camelot V2 pools: applies every event to plain numbers, with prices as exact fractions. Shares no code with
 * the product.
 */
import type { LegSwap } from './oracleVault';
import { PairOracle, type LogPlace, type OraclePair, type StateParts } from './pairOracle';
import { plainEvents, type PlainEvent } from './plainEvents';

const EVENTS = plainEvents([
  ['create', 'PairCreated(address indexed,address indexed,address,uint256)'],
  ['sync', 'Sync(uint112,uint112)'],
  ['swap', 'Swap(address indexed,uint256,uint256,uint256,uint256,address indexed)'],
  ['mint', 'Mint(address indexed,uint256,uint256)'],
  ['burn', 'Burn(address indexed,uint256,uint256,address indexed)'],
  ['fees', 'FeePercentUpdated(uint16,uint16)'],
  ['curve', 'SetStableSwap(bool,bool)'],
]);
/** Fees of a new pool, and the largest fee, in units of 1/100,000. */
const FIRST_FEE = 300;
const FEE_MAX = 2_000;
/** Both bits of the curve in the column `tick`. */
const UNKNOWN_CURVE = 3;

/** What the contracts of a pool answer. */
export interface CamelotTruth {
  readonly fees: readonly [number, number];
  /** Null if no node tells the curve and the fees before the first block of an older pool. */
  readonly isStable: boolean | null;
  /** Null if the contract does not tell them. */
  readonly decimals: readonly [number, number] | null;
}

interface Pool extends OraclePair {
  readonly decimals: CamelotTruth['decimals'];
  /** The part of the column `tick` that holds the fees which the node told. */
  readonly toldFees: number;
  fees: readonly [number, number];
  /** Null if unknown. */
  isStable: boolean | null;
  /** Transaction of the last Sync, and the fees before it. */
  transaction: string;
  hasSync: boolean;
  feesBefore: readonly [number, number];
}

export class CamelotOracle extends PairOracle<Pool> {
  constructor(
    factory: string,
    firstBlock: number,
    private readonly truthOf: (pool: string) => CamelotTruth | undefined,
  ) {
    super(factory, firstBlock, EVENTS);
  }

  protected create({ name, args }: PlainEvent, isIngested: boolean): Pool | null {
    const [token0, token1, address] = args.map(String);
    const truth = this.truthOf(address ?? '');
    if (name !== 'create' || truth === undefined) return null;
    const isTold = !isIngested && truth.isStable !== null;
    // Without a state, the larger fee counts for both directions.
    const largest = Math.max(...truth.fees);
    const usual = isIngested ? FIRST_FEE : largest;
    const fees = isTold ? truth.fees : ([usual, usual] as const);
    return {
      address: address!,
      token0: token0!,
      token1: token1!,
      isListed: false,
      reserves: [0n, 0n],
      decimals: truth.decimals,
      // Two bits of the curve, then eleven bits of each fee.
      toldFees: isTold ? 4 * (fees[0] + 2_048 * fees[1]) : 0,
      fees,
      isStable: isIngested ? false : truth.isStable,
      transaction: '',
      hasSync: false,
      feesBefore: fees,
    };
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, place: LogPlace): LegSwap | null {
    const { transactionHash, transactionIndex } = place.log;
    const transaction = `${transactionHash} ${transactionIndex}`;
    if (pool.transaction !== transaction) Object.assign(pool, { transaction, hasSync: false });
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    switch (name) {
      case 'fees':
        if (numbers.every((fee) => fee <= FEE_MAX)) pool.fees = [Number(numbers[0]), Number(numbers[1])];
        return null;
      case 'curve':
        pool.isStable = numbers[1] === 1n;
        this.note(pool, place, 'fee', tickOf(pool));
        return null;
      case 'sync':
        Object.assign(pool, { hasSync: true, feesBefore: pool.fees, reserves: [numbers[0]!, numbers[1]!] });
        this.note(pool, place, name, tickOf(pool));
        return null;
      case 'mint':
      case 'burn': {
        const owner = String(args[name === 'mint' ? 0 : 3]);
        const amounts = [String(numbers[0]), String(numbers[1])];
        this.liquidity.push([place.ord, pool.address, name, owner, ...amounts, null, null, null]);
        return null;
      }
      default:
        return name === 'swap' ? toSwap(pool, numbers) : null;
    }
  }

  protected toldState(pool: Pool): StateParts {
    return tickOf(pool);
  }

  protected feeOf({ fees }: Pool): number {
    return 10 * Math.max(...fees);
  }
}

/** The column `tick` holds the curve and the fees that the node told. */
const tickOf = ({ toldFees, isStable }: Pool): StateParts => ({
  tick: toldFees + (isStable === null ? UNKNOWN_CURVE : isStable ? 1 : 0),
});

/** Without a Sync of its transaction, a swap has no price, and the fees are those of its own time. */
function toSwap(pool: Pool, [in0, in1, out0, out1]: readonly bigint[]): LegSwap {
  const { address: pair, token0, token1, hasSync, reserves } = pool;
  const [amount0, amount1] = [in0! - out0!, in1! - out1!];
  const [reserve0, reserve1] = hasSync ? reserves : ([0n, 0n] as const);
  const fees = hasSync ? pool.feesBefore : pool.fees;
  const feePips = 10 * fees[amount0 > 0n ? 0 : 1];
  const price = hasSync ? priceOf(pool) : null;
  return { pair, leg: 1, token0, token1, amount0, amount1, reserve0, reserve1, price, feePips };
}

/** y / x, or for x³y + y³x = k the ratio of the derivatives: (3x²y + y³) / (x³ + 3y²x). */
function priceOf({ reserves: [r0, r1], isStable, decimals }: Pool): readonly [bigint, bigint] | null {
  if (r0 === 0n || r1 === 0n) return null;
  if (isStable === false) return [r1, r0];
  if (isStable === null || decimals === null) return null;
  const [unit0, unit1] = [10n ** BigInt(decimals[0]), 10n ** BigInt(decimals[1])];
  const [x, y] = [r0 * unit1, r1 * unit0];
  return [(3n * x * x * y + y ** 3n) * unit1, (x ** 3n + 3n * y * y * x) * unit0];
}
