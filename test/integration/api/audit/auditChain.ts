/**
 * A small chain with realistic markets for audit tests. Includes V2 and V3 pools that trade, a pool with a thousandfold
 * price, a price push, late pools and reorgs. Encodes logs by hand, without code of the product.
 */
import { createHash } from 'node:crypto';

import type { ChainBlock, ChainLog } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { Random } from '../../../support/random';

const GENESIS_TIME = 1_700_000_000;
export const TOPIC = {
  pairCreated: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  poolCreated: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
  initialize: '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95',
  v2Swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  v2Sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  v3Swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  v3Mint: '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde',
} as const satisfies Record<string, Hex>;
export const V2_FACTORY: Hex = `0x${'f2'.repeat(20)}`;
export const V3_FACTORY: Hex = `0x${'f3'.repeat(20)}`;

export const named = (n: number): Hex => `0x${'a'.repeat(30)}${n.toString().padStart(10, '0')}`;

export interface SimToken {
  readonly address: Hex;
  readonly decimals: number;
}

const decimalsOf = [18, 6, 18, 8, 18, 18, 18, 18, 12, 18, 0, 18];
const [DAI, USDC, WPLS, HEX, PLSX, FOUR, FIVE, LOST, FRIEND, DUST, LATE, THIN] = decimalsOf.map(
  (decimals, i): SimToken => ({ address: named(i + 1), decimals }),
) as [
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
  SimToken,
];
export const TOKENS = { DAI, USDC, WPLS, HEX, PLSX, FOUR, FIVE, LOST, FRIEND, DUST, LATE, THIN };

interface MarketPool {
  readonly address: Hex;
  readonly token0: SimToken;
  readonly token1: SimToken;
  /** The square root price of the pool; 0n for V2. */
  readonly liquidity: bigint;
  sqrt: bigint;
  reserve0: bigint;
  reserve1: bigint;
}

interface Node {
  readonly block: ChainBlock;
  readonly pools: readonly MarketPool[];
}

export type Draft = Pick<ChainLog, 'address' | 'topics' | 'data'>;

const MOD = 1n << 256n;
const Q96 = 1n << 96n;
export const data = (...values: (bigint | Hex)[]): Hex =>
  `0x${values
    .map((value) =>
      (typeof value === 'bigint' ? (((value % MOD) + MOD) % MOD).toString(16) : value.slice(2)).padStart(
        64,
        '0',
      ),
    )
    .join('')}`;
const digest = (text: string): Hex => `0x${createHash('sha256').update(text).digest('hex')}`;
const WHO = data(named(99));
const units = (whole: number, decimals: number): bigint =>
  (BigInt(Math.round(whole * 1e6)) * 10n ** BigInt(decimals)) / 1_000_000n;

/** One pool: [block of creation, kind, token and amount, token and amount]. A V3 pool holds a tenth of its
 * virtual reserves. */
type Plan = readonly [number, 'v2' | 'v3', SimToken, number, SimToken, number];
const PLANS: readonly Plan[] = [
  [1, 'v2', WPLS, 1e9, DAI, 50_000],
  [1, 'v2', WPLS, 8e8, USDC, 40_100],
  [1, 'v3', WPLS, 4e9, DAI, 200_000],
  [1, 'v2', DAI, 90_000, USDC, 90_050],
  [2, 'v2', HEX, 9e6, WPLS, 9e8],
  [2, 'v3', HEX, 6e6, WPLS, 6.05e8],
  [3, 'v2', HEX, 1_000, WPLS, 1e8],
  [3, 'v2', PLSX, 5e8, HEX, 2e6],
  [3, 'v2', FOUR, 1_000, PLSX, 1e8],
  [3, 'v2', FIVE, 1_000, FOUR, 500],
  [4, 'v2', LOST, 1_000, FRIEND, 1_000],
  [4, 'v2', DUST, 1_000, DAI, 20],
  [4, 'v2', THIN, 1_000, DAI, 600],
  [77, 'v2', LATE, 5_000, WPLS, 1e7],
  [120, 'v3', LATE, 5_000, DAI, 520],
];
/** In these blocks the price of a pool without trades jumps. */
const PUSH = { from: 90, to: 99, pool: 12 };

export class AuditChain {
  readonly random: Random;
  private branch: Node[] = [];
  private salt = 0;

  /** `extra`: further logs of a block. `makers`: the number of senders, who take turns. */
  constructor(
    seed: number,
    private readonly extra: (number: number) => readonly Draft[] = () => [],
    private readonly makers = 1,
  ) {
    this.random = new Random(seed);
    this.branch.push({ block: this.wrap(null, []), pools: [] });
  }

  get head(): ChainBlock {
    return this.branch.at(-1)!.block;
  }

  at(number: number): ChainBlock | undefined {
    return this.branch[number]?.block;
  }

  mine(count: number): void {
    for (let i = 0; i < count; i += 1) {
      const parent = this.branch.at(-1)!;
      const pools = parent.pools.map((pool) => ({ ...pool }));
      const logs = this.act(pools, parent.block.number + 1);
      this.branch.push({ block: this.wrap(parent.block, logs), pools });
    }
  }

  reorg(depth: number, length: number): void {
    this.branch = this.branch.slice(0, this.branch.length - depth);
    this.mine(length);
  }

  private act(pools: MarketPool[], number: number): Draft[] {
    const { random } = this;
    const drafts = PLANS.filter(([block]) => block === number).flatMap((plan) => create(pools, plan));
    drafts.push(...this.extra(number));
    if (number === PUSH.from || number === PUSH.to) {
      const pool = pools[PUSH.pool]!;
      const up = number === PUSH.from;
      pool.reserve0 = up ? pool.reserve0 * 2n : pool.reserve0 / 2n;
      drafts.push(sync(pool));
    }
    if (random.chance(0.2)) return drafts;
    for (let n = random.int(1, 4); n > 0; n -= 1) {
      const pool = random.pick(pools.filter((_, i) => i !== PUSH.pool));
      drafts.push(...(pool.liquidity === 0n ? swapV2(pool, random) : swapV3(pool, random)));
    }
    return drafts;
  }

  private wrap(parent: ChainBlock | null, drafts: readonly Draft[]): ChainBlock {
    const number = parent === null ? 0 : parent.number + 1;
    this.salt += 1;
    const hash = digest(`block ${this.salt} ${this.random.next()}`);
    const transactionHash = digest(`${hash} tx`);
    return {
      number,
      hash,
      parentHash: parent?.hash ?? `0x${'0'.repeat(64)}`,
      timestamp: parent === null ? GENESIS_TIME : parent.timestamp + this.random.pick([3, 10, 10, 12, 60]),
      baseFeePerGas: 7n,
      transactionCount: 1,
      transactions: [
        {
          hash: transactionHash,
          index: 0,
          from: named(98 - (number % this.makers)),
          effectiveGasPrice: 5n,
          gasUsed: null,
          contractAddress: null,
        },
      ],
      logs: drafts.map((draft, logIndex) => ({ ...draft, transactionHash, transactionIndex: 0, logIndex })),
    };
  }
}

function create(pools: MarketPool[], [, kind, a, amountA, b, amountB]: Plan): Draft[] {
  const [token0, whole0, token1, whole1] =
    a.address < b.address ? [a, amountA, b, amountB] : [b, amountB, a, amountA];
  const address: Hex = `0x${'b'.repeat(30)}${pools.length.toString().padStart(10, '0')}`;
  const reserve0 = units(whole0, token0.decimals);
  const reserve1 = units(whole1, token1.decimals);
  const topics = [data(token0.address), data(token1.address)];
  if (kind === 'v2') {
    const pool = { address, token0, token1, liquidity: 0n, sqrt: 0n, reserve0, reserve1 };
    pools.push(pool);
    return [
      { address: V2_FACTORY, topics: [TOPIC.pairCreated, ...topics], data: data(address, 1n) },
      sync(pool),
    ];
  }
  const sqrt = squareRoot((reserve1 * Q96 * Q96) / reserve0);
  const liquidity = squareRoot(reserve0 * reserve1);
  const pool = {
    address,
    token0,
    token1,
    liquidity,
    sqrt,
    reserve0: reserve0 / 10n,
    reserve1: reserve1 / 10n,
  };
  pools.push(pool);
  // The range of the position covers all prices.
  const range = [data(-887_220n), data(887_220n)];
  return [
    { address: V3_FACTORY, topics: [TOPIC.poolCreated, ...topics, data(3000n)], data: data(60n, address) },
    { address, topics: [TOPIC.initialize], data: data(sqrt, 0n) },
    {
      address,
      topics: [TOPIC.v3Mint, WHO, ...range],
      data: data(named(97), liquidity, pool.reserve0, pool.reserve1),
    },
  ];
}

const sync = ({ address, reserve0, reserve1 }: MarketPool): Draft => ({
  address,
  topics: [TOPIC.v2Sync],
  data: data(reserve0, reserve1),
});

/** A trade pays up to half a percent of a reserve into the pool. The pool keeps a fee of 0.3 %. */
function swapV2(pool: MarketPool, random: Random): Draft[] {
  const part = BigInt(random.int(1, 50));
  const { address, reserve0, reserve1 } = pool;
  let amounts: bigint[];
  if (random.chance(0.5)) {
    const into = (reserve0 * part) / 10_000n;
    const out = (reserve1 * into * 997n) / (reserve0 * 1000n + into * 997n);
    Object.assign(pool, { reserve0: reserve0 + into, reserve1: reserve1 - out });
    amounts = [into, 0n, 0n, out];
  } else {
    const into = (reserve1 * part) / 10_000n;
    const out = (reserve0 * into * 997n) / (reserve1 * 1000n + into * 997n);
    Object.assign(pool, { reserve0: reserve0 - out, reserve1: reserve1 + into });
    amounts = [0n, into, out, 0n];
  }
  return [sync(pool), { address, topics: [TOPIC.v2Swap, WHO, WHO], data: data(...amounts) }];
}

/** A trade moves √P by up to 0.2 %. */
function swapV3(pool: MarketPool, random: Random): Draft[] {
  const { address, liquidity, sqrt } = pool;
  const next = sqrt + (sqrt * BigInt(random.int(-20, 20))) / 10_000n;
  const amount1 = (liquidity * (next - sqrt)) / Q96;
  const amount0 = (liquidity * Q96) / next - (liquidity * Q96) / sqrt;
  Object.assign(pool, {
    sqrt: next,
    reserve0: pool.reserve0 + amount0,
    reserve1: pool.reserve1 + amount1,
  });
  return [
    {
      address,
      topics: [TOPIC.v3Swap, WHO, WHO],
      data: data(amount0, amount1, next, liquidity, 0n),
    },
  ];
}

function squareRoot(value: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}
