/**
 * The oracle for bin pools of PancakeSwap Infinity: applies every event to plain numbers, with prices as exact fractions. Shares
 * no code with the product. Knows no pool that is older than the first block.
 */
import type { ChainLog } from '../../../src/domain/block';
import { binPriceOf, halves } from './oracleBook';
import { firstFee, hookDoubts } from './oracleV4';
import type { LegSwap } from './oracleVault';
import { addTo, PairOracle, type LogPlace, type OraclePair, type StateParts } from './pairOracle';
import { plainEvents, type PlainEvent } from './plainEvents';

const EVENTS = plainEvents([
  ['initialize', 'Initialize(bytes32 indexed,address indexed,address indexed,address,uint24,bytes32,uint24)'],
  ['swap', 'Swap(bytes32 indexed,address indexed,int128,int128,uint24,uint24,uint16)'],
  ['mint', 'Mint(bytes32 indexed,address indexed,uint256[],bytes32,bytes32[],bytes32,bytes32)'],
  ['burn', 'Burn(bytes32 indexed,address indexed,uint256[],bytes32,bytes32[])'],
  ['flash', 'Donate(bytes32 indexed,address indexed,int128,int128,uint24)'],
]);
const PIPS = 1_000_000n;

interface Pool extends OraclePair {
  readonly poolId: string;
  readonly binStep: number;
  readonly doubts: number;
  readonly feePips: number;
  /** The active bin; 0 before the first price. */
  id: number;
}

export class InfinityBinOracle extends PairOracle<Pool> {
  constructor(manager: string, firstBlock: number) {
    super(manager, firstBlock, EVENTS);
  }

  /** A pool has the last 20 bytes of its id as key. */
  protected override keyOf({ address, topics }: ChainLog): string {
    return address === this.factory ? `0x${topics[1]?.slice(-40)}` : '';
  }

  protected create({ name, args }: PlainEvent, isIngested: boolean): Pool | null {
    if (name !== 'initialize' || !isIngested) return null;
    const [poolId, token0, token1] = args.map(String);
    return {
      poolId: poolId!,
      address: `0x${poolId!.slice(-40)}`,
      token0: token0!,
      token1: token1!,
      isListed: false,
      reserves: [0n, 0n],
      binStep: Number(BigInt(String(args[5])) >> 16n),
      doubts: hookDoubts(args[3], args[5]),
      feePips: firstFee(args[4] as bigint),
      id: 0,
    };
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, place: LogPlace): LegSwap | null {
    if (args[0] !== pool.poolId) return null;
    const owner = String(args[1]);
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    switch (name) {
      case 'initialize':
        if (pool.id === 0) {
          pool.id = Number(numbers[1]);
          this.noteId(pool, name, place);
        }
        return null;
      case 'swap':
        return this.swap(pool, numbers, place);
      case 'flash':
        if (numbers[0]! <= 0n && numbers[1]! <= 0n)
          this.change(pool, name, owner, [-numbers[0]!, -numbers[1]!], place);
        return null;
      default: {
        const amounts = (args[4] as string[]).map(halves);
        const sum = (side: 0 | 1): bigint => amounts.reduce((total, one) => total + one[side], 0n);
        this.change(pool, name, owner, [sum(0), sum(1)], place);
        return null;
      }
    }
  }

  private noteId(pool: Pool, kind: string, place: LogPlace): void {
    this.note(pool, place, kind, { tick: pool.id, doubts: pool.doubts });
  }

  private change(
    pool: Pool,
    kind: string,
    owner: string,
    [x, y]: readonly [bigint, bigint],
    place: LogPlace,
  ): void {
    const sign = kind === 'burn' ? -1n : 1n;
    pool.reserves = addTo(pool.reserves, sign * x, sign * y);
    this.liquidity.push([place.ord, pool.address, kind, owner, String(x), String(y), null, null, null]);
    this.noteId(pool, kind, place);
  }

  /** The event has the amounts of the trader. The protocol's part of the fee leaves the pool. */
  private swap(
    pool: Pool,
    [gets0, gets1, id, fee, ofProtocol]: readonly bigint[],
    place: LogPlace,
  ): LegSwap | null {
    if (fee! > PIPS) return null;
    const stays = (gets: bigint): bigint => {
      if (gets >= 0n || fee === 0n) return -gets;
      // The fee is rounded up.
      const charged = -((gets * fee!) / PIPS) + ((gets * fee!) % PIPS === 0n ? 0n : 1n);
      return -gets - (charged * ofProtocol!) / fee!;
    };
    pool.reserves = addTo(pool.reserves, stays(gets0!), stays(gets1!));
    pool.id = Number(id);
    this.noteId(pool, 'swap', place);
    const { address: pair, token0, token1, reserves, doubts } = pool;
    return {
      pair,
      leg: 1,
      token0,
      token1,
      amount0: -gets0!,
      amount1: -gets1!,
      reserve0: reserves[0],
      reserve1: reserves[1],
      price: doubts === 0 ? binPriceOf(pool) : null,
      feePips: Number(fee),
    };
  }

  /** No older pool is known. */
  protected toldState(): StateParts {
    return {};
  }

  protected feeOf({ feePips }: Pool): number {
    return feePips;
  }
}
