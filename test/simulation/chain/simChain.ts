/**
 * A chain in memory: a tree of blocks with logs of V2 pools, V3 pools, a vault, and pools of simFamilies.ts. Tests can
 * fork the chain. Encodes logs by hand, without code of the product.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { FastRandom, Random } from '../../support/random';
import { ZERO_HASH, type Hex } from '../../../src/domain/hex';
import type { Moment, MovingPool } from './moving/movingPool';
import { familyLogs } from './simFamilies';
import type { FamilyPool } from './simFamilyPool';
import { dataOf, digest, topicOf, type Draft } from '../../support/plainLogs';
import { drawFamilies, movingLogs } from './moving/simMovingPools';
import type { Seal } from './simSeal';
import { transferLog } from './simTransfers';
import { createVaultPool, stableLogs, vaultEvent, vaultOddity, type SimVaultPool } from './simVault';

export const SIM_CHAIN_ID = 369;
const GENESIS_TIME = 1_700_000_000;

const TOPIC = {
  pairCreated: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  poolCreated: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
  v2Swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  v2Sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  v2Mint: '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f',
  v2Burn: '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496',
  v3Swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  v3Mint: '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const satisfies Record<string, Hex>;

export const V2_FACTORY: Hex = `0x${'f2'.repeat(20)}`;
export const V3_FACTORY: Hex = `0x${'f3'.repeat(20)}`;

export function simToken(index: number): Hex {
  return digest(`token ${index}`, 20);
}

/** A pair of a factory. Two tokens have one V2 pair, and one V3 pair per fee. */
export interface SimPair {
  readonly address: Hex;
  readonly kind: 'v2' | 'v3';
  readonly token0: Hex;
  readonly token1: Hex;
}

type SimPool = SimPair | SimVaultPool;

/** A block with the state of its pools, which its logs do not show. */
interface TreeNode {
  readonly block: ChainBlock;
  /** Pools that exist after the block. */
  readonly pools: readonly SimPool[];
  readonly families: readonly FamilyPool[];
  readonly moving: readonly MovingPool[];
  /** A stable pool of the vault, if `stableRandom` draws one. */
  readonly stables: readonly SimVaultPool[];
}

/** The pools of a branch, while a block is made. */
interface BranchPools {
  readonly pools: SimPool[];
  readonly families: FamilyPool[];
  readonly moving: MovingPool[];
  readonly stables: SimVaultPool[];
}

/**
 * Additions to the simulated chain: other times between blocks, more transactions and additional kinds of logs. Their
 * random values come from a separate generator.
 */
export interface Wilderness {
  /** Possible numbers of seconds between blocks. */
  readonly spacings: readonly number[];
  readonly emptyChance: number;
  readonly transactionsMax: number;
  /** Makes additional logs of these pools, for one transaction. */
  drafts(pools: readonly SimPool[]): Draft[];
  /** Makes logs that belong to the block and to none of its transactions. */
  blockDrafts?(pools: readonly SimPool[], otherDrafts: readonly Draft[]): Draft[];
  /** Draws pools of lending tokens whose rates grow. Without it, the chain has none. */
  readonly rateRandom: Random | null;
  /** Draws a stable pool of the vault whose price is known. Without it, the chain may have none. */
  readonly stableRandom: Random | null;
  /** Returns a new token for this pool, or null to use an existing token. */
  secondToken(id: string): Hex | null;
}

/** No block has more transactions. */
const TRANSACTIONS_MAX = 8;
const TOKENS = Array.from({ length: 12 }, (_, index) => simToken(index));
/** The two anchors of the simulated chain. */
export const SIM_ANCHORS: readonly Hex[] = [6, 7].map(simToken);
/** The wrapped native token. */
export const SIM_NATIVE = simToken(8);
/** The anchors and the native token, in the quote order of the description. */
export const SIM_RANKED: readonly Hex[] = [...SIM_ANCHORS, SIM_NATIVE];
/** Fee and tick spacing of all V3 pairs. */
export const SIM_V3_FEE_PIPS = 3000n;
export const SIM_V3_TICK_SPACING = 60n;

export class SimChain {
  readonly random: Random;
  /** A generator of its own, so that the other logs of a seed stay as they were before there were these families. */
  private readonly familyRandom: Random;
  /** The same for the pools of simMovingPools.ts, of which a seed has some families. */
  private readonly movingRandom: Random;
  private readonly movingFamilies: ReturnType<typeof drawFamilies>;
  /** Whether nodes tell the states of older pools of two tokens. Otherwise they have pruned these states. */
  readonly tellsOldStates: boolean;
  private readonly nodes = new Map<Hex, TreeNode>();
  private branch: TreeNode[] = [];
  /** Result of the last call of `canonicalView`. */
  private cachedView: readonly ChainBlock[] = [];
  /** Number of blocks made so far, on all branches. It makes their hashes differ. */
  private blockCount = 0;

  /**
   * `wilderness` adds more transactions and additional kinds of logs. Without it, the chain of a seed stays as it was
   * before. `seal` gives each block its real hash.
   */
  constructor(
    seed: number,
    private readonly wilderness: Wilderness | null = null,
    private readonly seal: Seal | null = null,
  ) {
    this.random = wilderness === null ? new Random(seed) : new FastRandom(seed);
    this.familyRandom = new FastRandom(Math.imul(seed, 2_654_435_761) ^ 0x5eed);
    this.movingRandom = new FastRandom(Math.imul(seed, 2_246_822_519) ^ 0x301e);
    this.movingFamilies = drawFamilies(this.movingRandom);
    this.tellsOldStates = this.movingRandom.chance(0.5);
    this.branch.push(
      this.remember(this.makeBlock(null, { pools: [], families: [], moving: [], stables: [] })),
    );
  }

  /** Whether blocks can be proven. */
  get isSealed(): boolean {
    return this.seal !== null;
  }

  get head(): ChainBlock {
    return this.branch.at(-1)!.block;
  }

  at(number: number): ChainBlock | undefined {
    return this.branch[number]?.block;
  }

  /** Vault pools after the block; undefined if no branch has the block. */
  vaultPoolsAt(hash: Hex): readonly SimVaultPool[] | undefined {
    const node = this.nodes.get(hash);
    return node && [...node.pools.filter((pool) => pool.kind === 'vault'), ...node.stables];
  }

  /** Pools of Solidly, Slipstream and Algebra after the block; undefined if no branch has the block. */
  familiesAt(hash: Hex): readonly FamilyPool[] | undefined {
    return this.nodes.get(hash)?.families;
  }

  /** Pools of the other families after the block; undefined if no branch has the block. */
  movingAt(hash: Hex): readonly MovingPool[] | undefined {
    return this.nodes.get(hash)?.moving;
  }

  /** Pairs after the block; undefined if no branch has the block. */
  pairsAt(hash: Hex): readonly SimPair[] | undefined {
    return this.nodes.get(hash)?.pools.filter((pool) => pool.kind !== 'vault');
  }

  block(hash: Hex): ChainBlock | undefined {
    return this.nodes.get(hash)?.block;
  }

  /** All blocks at this height, on any branch. */
  blocksAt(number: number): ChainBlock[] {
    return [...this.nodes.values()].flatMap(({ block }) => (block.number === number ? [block] : []));
  }

  canonical(): ChainBlock[] {
    return this.branch.map((node) => node.block);
  }

  /** The canonical blocks. The array stays the same until the head changes. Callers must not modify it. */
  canonicalView(): readonly ChainBlock[] {
    if (this.cachedView.at(-1) !== this.head) this.cachedView = this.canonical();
    return this.cachedView;
  }

  mine(count = 1): void {
    for (let i = 0; i < count; i += 1) {
      const { block, pools, families, moving, stables } = this.branch.at(-1)!;
      const branchPools = { pools: [...pools], families: [...families], moving: [...moving] };
      this.branch.push(this.remember(this.makeBlock(block, { ...branchPools, stables: [...stables] })));
    }
  }

  /** Replaces the last `depth` blocks with `length` other blocks. Returns the previous newest block. */
  reorg(depth: number, length: number): Hex {
    const oldHash = this.head.hash;
    this.branch = this.branch.slice(0, this.branch.length - depth);
    this.mine(length);
    return oldHash;
  }

  /** Makes the branch that ends with this block canonical. */
  switchTo(tip: Hex): void {
    const branch: TreeNode[] = [];
    for (let node = this.nodes.get(tip); node !== undefined; node = this.nodes.get(node.block.parentHash)) {
      branch.unshift(node);
    }
    this.branch = branch;
  }

  private remember(node: TreeNode): TreeNode {
    this.nodes.set(node.block.hash, node);
    return node;
  }

  /** May change the lists of pools. */
  private makeBlock(parent: ChainBlock | null, branchPools: BranchPools): TreeNode {
    const { random } = this;
    const { pools } = branchPools;
    const number = parent === null ? 0 : parent.number + 1;
    const timestamp =
      parent === null
        ? GENESIS_TIME
        : parent.timestamp + random.pick(this.wilderness?.spacings ?? [0, 1, 3, 10, 10, 10, 12, 59, 60, 400]);
    this.blockCount += 1;
    const hash = digest(`block ${this.blockCount} ${number} ${random.next()}`, 32);
    const logs: ChainLog[] = [];
    const isEmpty = parent === null || random.chance(this.wilderness?.emptyChance ?? 0.15);
    const transactions = isEmpty ? 0 : random.int(1, this.wilderness?.transactionsMax ?? 4);
    for (let index = 0; index < transactions; index += 1) {
      const transactionHash = digest(`${hash} tx ${index}`, 32);
      const id = `${this.blockCount}-${index}`;
      const pools = branchPools.moving;
      const rateRandom = this.wilderness?.rateRandom ?? null;
      const moment = { id, blockId: this.blockCount, timestamp, v2Factory: V2_FACTORY, pools, rateRandom };
      const drafts = this.makeTransaction(branchPools, moment);
      for (const draft of drafts) {
        logs.push({ ...draft, transactionHash, transactionIndex: index, logIndex: logs.length });
      }
    }
    for (const draft of this.makeBlockLogs(pools, logs))
      logs.push({
        ...draft,
        transactionHash: ZERO_HASH,
        transactionIndex: transactions,
        logIndex: logs.length,
      });
    const block = {
      number,
      hash,
      parentHash: parent?.hash ?? ZERO_HASH,
      timestamp,
      baseFeePerGas: 7n,
      transactionCount: transactions,
      transactions: Array.from({ length: transactions }, (_, index) => ({
        hash: digest(`${hash} tx ${index}`, 32),
        index,
        from: digest(`maker ${index % 3}`, 20),
        effectiveGasPrice: BigInt(random.int(1, 1000)),
        gasUsed: null,
        contractAddress: null,
      })),
      logs,
    };
    return { ...branchPools, block: this.seal?.(block, this.blockCount * TRANSACTIONS_MAX) ?? block };
  }

  /** The logs that belong to no transaction. */
  private makeBlockLogs(pools: readonly SimPool[], otherDrafts: readonly Draft[]): readonly Draft[] {
    return pools.length === 0 ? [] : (this.wilderness?.blockDrafts?.(pools, otherDrafts) ?? []);
  }

  /** The logs of one transaction. May add pools. */
  private makeTransaction({ pools, families, moving, stables }: BranchPools, moment: Moment): Draft[] {
    const { random } = this;
    const { id } = moment;
    const drafts: Draft[] = [];
    if (pools.length === 0 || random.chance(0.08)) drafts.push(...this.createPool(pools, id));
    for (let i = random.int(1, 4); i > 0; i -= 1) {
      const pool = random.pick(pools);
      if (pool.kind === 'vault') drafts.push(...this.moveVaultPool(pools, pool));
      else drafts.push(...(pool.kind === 'v2' ? this.v2Event(pool.address) : this.v3Event(pool.address)));
      if (random.chance(0.1)) drafts.push(this.oddity(pool.address));
    }
    if (random.chance(0.6)) drafts.push(transferLog(random, TOKENS, SIM_NATIVE));
    if (this.wilderness !== null) {
      const { stableRandom } = this.wilderness;
      drafts.push(...this.wilderness.drafts(pools));
      drafts.push(...familyLogs(this.familyRandom, families, id, simToken));
      drafts.push(...movingLogs(this.movingRandom, this.movingFamilies, moving, moment));
      if (stableRandom !== null) drafts.push(...stableLogs(stableRandom, stables, id, simToken));
    }
    return drafts;
  }

  private moveVaultPool(pools: SimPool[], pool: SimVaultPool): Draft[] {
    const { drafts, after } = vaultEvent(this.random, pool);
    pools[pools.indexOf(pool)] = after;
    return this.random.chance(0.1) ? [...drafts, vaultOddity(this.random, after)] : drafts;
  }

  private createPool(pools: SimPool[], id: string): Draft[] {
    if (this.random.chance(0.4)) {
      const { drafts, pool } = createVaultPool(this.random, digest(`pool ${id}`, 20), simToken);
      pools.push(pool);
      return drafts;
    }
    const kind = this.random.chance(0.6) ? 'v2' : 'v3';
    const address = digest(`pool ${id}`, 20);
    const token0 = simToken(this.random.int(0, 5));
    const token1 = this.wilderness?.secondToken(id) ?? simToken(this.random.int(6, 11));
    // A factory creates each pair once.
    const isPoolCreated = (pool: SimPool): boolean =>
      pool.kind === kind && pool.token0 === token0 && pool.token1 === token1;
    if (this.wilderness !== null && pools.some(isPoolCreated)) return [];
    pools.push({ address, kind, token0, token1 });
    if (kind === 'v2') {
      const topics = [TOPIC.pairCreated, topicOf(token0), topicOf(token1)];
      return [{ address: V2_FACTORY, topics, data: dataOf(address, 1n) }];
    }
    const topics = [TOPIC.poolCreated, topicOf(token0), topicOf(token1), topicOf(SIM_V3_FEE_PIPS)];
    return [{ address: V3_FACTORY, topics, data: dataOf(SIM_V3_TICK_SPACING, address) }];
  }

  private v2Event(address: Hex): Draft[] {
    const { random } = this;
    const traderTopic = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    const sync: Draft = { address, topics: [TOPIC.v2Sync], data: dataOf(random.big(112), random.big(112)) };
    const [amountA, amountB] = [random.big(100), random.big(100)];
    if (random.chance(0.1))
      return [sync, { address, topics: [TOPIC.v2Mint, traderTopic], data: dataOf(amountA, amountB) }];
    if (random.chance(0.1))
      return [
        sync,
        { address, topics: [TOPIC.v2Burn, traderTopic, traderTopic], data: dataOf(amountA, amountB) },
      ];
    // amount0In, amount1In, amount0Out, amount1Out. Some swaps pay out both tokens.
    const amounts = random.chance(0.5)
      ? [amountA, 0n, 0n, amountB]
      : [0n, amountA, amountB, random.chance(0.1) ? amountB : 0n];
    const swap: Draft = {
      address,
      topics: [TOPIC.v2Swap, traderTopic, traderTopic],
      data: dataOf(...amounts),
    };
    // Sometimes a swap has no Sync event, and therefore no price.
    return random.chance(0.05) ? [swap] : [sync, swap];
  }

  private v3Event(address: Hex): Draft[] {
    const { random } = this;
    const traderTopic = topicOf(digest(`trader ${random.int(0, 5)}`, 20));
    const [amountA, amountB] = [random.big(100), random.big(100)];
    if (random.chance(0.1)) {
      const topics = [TOPIC.v3Mint, traderTopic, topicOf(-600n), topicOf(600n)];
      return [{ address, topics, data: dataOf(digest('sender', 20), random.big(100), amountA, amountB) }];
    }
    const [amount0, amount1] = random.chance(0.5) ? [amountA, -amountB] : [-amountA, amountB];
    const [anyRoot, liquidity, anyTick] = [random.big(150), random.big(110), random.int(-800_000, 800_000)];
    // Half of the swaps end near the ticks of the mints (−600 to 600), so that the minted liquidity decides what the
    // pool pays out.
    const isRootNearTick = anyTick % 2 === 0;
    const tick = isRootNearTick ? anyTick % 1_000 : anyTick;
    const sqrtPrice = isRootNearTick ? BigInt(Math.round(1.0001 ** (tick / 2) * 2 ** 96)) : anyRoot;
    const swapData = dataOf(amount0, amount1, sqrtPrice, liquidity, BigInt(tick));
    return [{ address, topics: [TOPIC.v3Swap, traderTopic, traderTopic], data: swapData }];
  }

  /** Logs that the ingester must skip: malformed, anonymous, from unknown contracts, or irrelevant. */
  private oddity(address: Hex): Draft {
    const { random } = this;
    const stranger = digest(`stranger ${random.int(0, 9)}`, 20);
    return random.pick<Draft>([
      { address, topics: [TOPIC.v2Swap], data: dataOf(1n, 2n) },
      { address, topics: [], data: '0x' },
      { address, topics: [TOPIC.v3Swap, topicOf(1n), topicOf(2n)], data: dataOf(1n) },
      { address: stranger, topics: [TOPIC.v2Sync], data: dataOf(5n, 7n) },
      { address: stranger, topics: [TOPIC.transfer, topicOf(1n), topicOf(2n)], data: dataOf(9n) },
    ]);
  }
}
