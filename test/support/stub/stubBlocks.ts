/**
 * Builds encoded blocks for the benchmark chain: seeded V2 and V3 trading with real blooms. The ingester checks the
 * bloom of every block. stubChain.ts serves the blocks.
 */
import { keccak256 } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import type { BlockSealer } from './blockSealer';
import { FAMILY_KINDS, familyAnswers, familyCreation, familyTrade, type StubPool } from './stubFamilies';
import { FULL_HEADER, STUB_GAS_PRICE, transactionOf } from './stubFullBlock';
import { LogIndexer, type LogIndex, type StubLog } from './stubLogs';

const TOPIC = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  pairCreated: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  poolCreated: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
  v2Swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  v2Sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  v3Swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  solidlyCreated: '0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e',
  solidlySync: '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a',
  solidlySwap: '0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b',
  algebraCreated: '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db',
  algebraSwap: '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79',
} as const;

export const STUB_V2_FACTORY: Hex = `0x${'a2'.repeat(20)}`;
export const STUB_V3_FACTORY: Hex = `0x${'a3'.repeat(20)}`;
export const STUB_SOLIDLY_FACTORY: Hex = `0x${'a5'.repeat(20)}`;
export const STUB_ALGEBRA_FACTORY: Hex = `0x${'a7'.repeat(20)}`;
const BLOCK_SECONDS = 10;
const SWAPS_PER_TX = 2;
/** Tick spacing and fee of the V3 pools. */
const TICK_SPACING = 60;
const FEE_PIPS = 3_000;
/** Liquidity and tick in all V3 swaps. */
const LIQUIDITY = 1n << 70n;
const TICK = 12;
const GAS_PER_TX = 21_000;

const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const hexDigits = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
export const hex = (value: number): string => `0x${value.toString(16)}`;
/** An address that begins with its kind: 01 and 02 tokens, e2 and e3 pools, 77 traders, 99 the router. */
const address = (kind: string, index: number): Hex =>
  `0x${kind}${index.toString(16).padStart(40 - kind.length, '0')}`;
const topicOf = (value: string): Hex => `0x${value.slice(2).padStart(64, '0')}`;

/** Index of a random pair: popular pairs trade most, because the index is proportional to u³. */
function pairAt(random: () => number, pairs: number): number {
  return Math.floor(random() ** 3 * pairs);
}

function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

type PoolKind = 'v2' | 'v3' | 'stable' | 'algebra' | StubPool['kind'];
/** The first digits of a pool's address. */
const POOL_PREFIX = {
  v2: 'e2',
  v3: 'e3',
  v4: 'e4',
  stable: 'e5',
  algebra: 'e7',
  camelot: 'e8',
  book: 'e9',
  curve: 'ea',
  vault: 'eb',
  crypto: 'ec',
  v3vault: 'ed',
  infinity: 'ee',
  bins: 'ef',
  bonding: 'f1',
} as const satisfies Record<PoolKind, string>;
const KINDS: readonly PoolKind[] = ['v2', 'stable', 'algebra', ...FAMILY_KINDS, 'v3'];

/** With families, the pools are of all kinds in turn. Without them, one pool in five is a V3 pool. */
function kindOf(index: number, { onlyV2 = false, families = false }: StubBlockOptions): PoolKind {
  if (onlyV2) return 'v2';
  if (families) return KINDS[index % KINDS.length] ?? 'v2';
  return index % 5 === 4 ? 'v3' : 'v2';
}

/** The pool with this index, if it is of one of the families. */
function familyPool(index: number, options: StubBlockOptions): StubPool | null {
  const poolKind = kindOf(index, options);
  const kind = FAMILY_KINDS.find((one) => one === poolKind);
  const [token0, token1] = stubTokens(index, options.firstTokens);
  return kind === undefined ? null : { kind, address: address(POOL_PREFIX[kind], index), token0, token1 };
}

/** Families whose creation has several logs come first, so that each creation is in one transaction. */
function listFamilyPools(options: StubBlockOptions): StubPool[] {
  const pools = Array.from({ length: options.pairs }, (_, index) => familyPool(index, options) ?? []).flat();
  const size = (pool: StubPool): number => familyCreation(pool).length;
  return pools.sort((a, b) => size(b) - size(a));
}

/** Tokens of the pool with this index. The second one is one of seven quote tokens. */
export const stubTokens = (index: number, firstTokens = 200): readonly [Hex, Hex] => [
  address('01', index % firstTokens),
  address('02', index % 7),
];

function swapLogs(random: () => number, options: StubBlockOptions, timestamp: number): StubLog[] {
  const { pairs, onlyV2 = false, firstTokens } = options;
  const index = pairAt(random, pairs);
  const family = familyPool(index, options);
  if (family !== null)
    return familyTrade(random, family, topicOf(address('77', Math.floor(random() * 500))), timestamp);
  const amountIn = BigInt(Math.floor(random() * 2 ** 50)) * 1000n + 1n;
  const amountOut = BigInt(Math.floor(random() * 2 ** 50)) * 1000n + 1n;
  const trader = topicOf(address('77', Math.floor(random() * 500)));
  const kind = kindOf(index, options);
  const pool = address(POOL_PREFIX[kind], index);
  const transfer = (token: string, amount: bigint): StubLog => ({
    address: token,
    topics: [TOPIC.transfer, trader, topicOf(pool)],
    data: `0x${word(amount)}`,
  });
  const [token0, token1] = stubTokens(index, firstTokens);
  const transfers = [transfer(token0, amountIn), transfer(token1, amountOut)];
  if (kind === 'v3' || kind === 'algebra') {
    const sqrtPrice = (1n << 96n) + BigInt(Math.floor(random() * 2 ** 50)) * (1n << 40n);
    // The amount that the pool pays is negative, in two's complement.
    const negativeOut = (1n << 256n) - amountOut;
    const data = `0x${word(amountIn)}${word(negativeOut)}${word(sqrtPrice)}${word(LIQUIDITY)}${word(TICK)}`;
    // Algebra's swap also tells the fee of the plugin.
    const swap =
      kind === 'v3'
        ? { topics: [TOPIC.v3Swap, trader, trader], data }
        : { topics: [TOPIC.algebraSwap, trader, trader], data: `${data}${word(0)}${word(40)}` };
    return [...transfers, { address: pool, ...swap }];
  }
  const reserves = `0x${word(10n ** 24n + amountIn)}${word(10n ** 23n + amountOut)}`;
  const [syncTopic, swapTopic] =
    kind === 'stable' ? [TOPIC.solidlySync, TOPIC.solidlySwap] : [TOPIC.v2Sync, TOPIC.v2Swap];
  const sync = { address: pool, topics: [syncTopic], data: reserves };
  const amounts = `0x${word(amountIn)}${word(0)}${word(0)}${word(amountOut)}`;
  return [
    ...(onlyV2 ? [] : transfers),
    sync,
    { address: pool, topics: [swapTopic, trader, trader], data: amounts },
  ];
}

function creationLogs(options: StubBlockOptions): StubLog[] {
  const families = listFamilyPools(options).flatMap(familyCreation);
  const others = Array.from({ length: options.pairs }, (_, index): StubLog[] | StubLog => {
    const tokens = stubTokens(index, options.firstTokens).map(topicOf);
    const kind = kindOf(index, options);
    const pool = address(POOL_PREFIX[kind], index).slice(2).padStart(64, '0');
    switch (kind) {
      case 'v3': {
        const topics = [TOPIC.poolCreated, ...tokens, `0x${word(FEE_PIPS)}`];
        return { address: STUB_V3_FACTORY, topics, data: `0x${word(TICK_SPACING)}${pool}` };
      }
      case 'v2':
        return {
          address: STUB_V2_FACTORY,
          topics: [TOPIC.pairCreated, ...tokens],
          data: `0x${pool}${word(index)}`,
        };
      case 'stable': {
        const topics = [TOPIC.solidlyCreated, ...tokens, `0x${word(1)}`];
        return { address: STUB_SOLIDLY_FACTORY, topics, data: `0x${pool}${word(index)}` };
      }
      case 'algebra':
        return {
          address: STUB_ALGEBRA_FACTORY,
          topics: [TOPIC.algebraCreated, ...tokens],
          data: `0x${pool}`,
        };
      default:
        return [];
    }
  });
  return [...families, ...others.flat()];
}

/** Bits of a 2048-bit bloom that an address or topic sets (Yellow Paper, M3:2048). */
function createBloomer(): (logs: readonly StubLog[]) => string {
  const bitsByItem = new Map<string, readonly number[]>();
  const bitsOf = (item: string): readonly number[] => {
    let bits = bitsByItem.get(item);
    if (bits === undefined) {
      const hash = Buffer.from(keccak256(item).slice(2), 'hex');
      bits = [0, 2, 4].map((offset) => hash.readUInt16BE(offset) & 2047);
      bitsByItem.set(item, bits);
    }
    return bits;
  };
  return (logs) => {
    const bloom = Buffer.alloc(256);
    for (const log of logs) {
      for (const item of [log.address, ...log.topics]) {
        for (const bit of bitsOf(item)) {
          const byteIndex = 255 - (bit >> 3);
          bloom[byteIndex] = (bloom[byteIndex] ?? 0) | (1 << (bit & 7));
        }
      }
    }
    return `0x${bloom.toString('hex')}`;
  };
}

/** The node's encoded answers for one block. Buffers keep the load off the garbage collector. */
export interface StubBlock {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly header: Buffer;
  readonly receipts: Buffer;
  readonly logs: Buffer;
  /** The block with full transactions and the index of its logs; null unless the chain serves other indexers. */
  readonly full: Buffer | null;
  readonly index: LogIndex | null;
}

/** Contents of a block. `fork` distinguishes blocks of the same height. */
interface StubDraft {
  readonly number: number;
  readonly fork: number;
  readonly parentHash: string;
  readonly timestamp: number;
  readonly logs: readonly StubLog[];
  readonly bloomOf: (logs: readonly StubLog[]) => string;
  readonly logsPerTx: number;
  readonly transactionsMin: number;
  /** Gives blocks real hashes and signatures; null if the chain's blocks need not be provable. */
  readonly sealer: BlockSealer | null;
  /** Indexes the logs of a block for filtered requests of other indexers; null if only Candlehouse reads the chain. */
  readonly indexer: LogIndexer | null;
}

function encodeBlock(draft: StubDraft): StubBlock {
  const { number, fork, parentHash, timestamp, logs, bloomOf, logsPerTx, indexer, sealer } = draft;
  const bloom = bloomOf(logs);
  const blockDigits = `${hexDigits(fork, 8)}${hexDigits(number, 22)}`;
  // The first digits differ between branches, as in real hashes. Stream ids contain only these digits.
  const mixedSeed = (Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(fork + 1, 0x85ebca6b)) >>> 0;
  let hash = `0x${hexDigits(mixedSeed, 8)}b10c${blockDigits.padStart(52, '0')}`;
  const txCount = Math.max(draft.transactionsMin, Math.ceil(logs.length / logsPerTx));
  const signedTransactions = sealer?.transactions(number, txCount) ?? [];
  const txHash = (index: number): string =>
    signedTransactions[index]?.hash ?? `0x7ac5${blockDigits}${index.toString(16).padStart(30, '0')}`;
  const logJsons = logs.map((log, index) => {
    const tx = Math.floor(index / logsPerTx);
    return {
      ...log,
      blockNumber: hex(number),
      blockHash: hash,
      transactionHash: txHash(tx),
      transactionIndex: hex(tx),
      logIndex: hex(index),
      removed: false,
    };
  });
  const senderOf = (index: number): string =>
    signedTransactions[index]?.from ?? address('77', (number + index) % 500);
  const logsOf = <Log>(allLogs: readonly Log[], index: number): Log[] =>
    allLogs.slice(index * logsPerTx, (index + 1) * logsPerTx);
  const receipts = Array.from({ length: txCount }, (_, index) => ({
    transactionHash: txHash(index),
    transactionIndex: hex(index),
    blockHash: hash,
    blockNumber: hex(number),
    from: senderOf(index),
    to: address('99', 1),
    cumulativeGasUsed: hex(GAS_PER_TX * (index + 1)),
    gasUsed: hex(GAS_PER_TX),
    contractAddress: null,
    logs: logsOf(logJsons, index),
    // Only a proof reads the bloom of a receipt.
    logsBloom: sealer === null ? bloom : bloomOf(logsOf(logs, index)),
    status: '0x1',
    effectiveGasPrice: STUB_GAS_PRICE,
    type: '0x2',
  }));
  let header = {
    number: hex(number),
    hash,
    parentHash,
    timestamp: hex(timestamp),
    logsBloom: bloom,
    baseFeePerGas: '0x7',
    gasUsed: hex(GAS_PER_TX * txCount),
    gasLimit: '0x1c9c380',
    ...(indexer === null && sealer === null ? {} : FULL_HEADER),
    transactions: receipts.map((receipt) => receipt.transactionHash),
  };
  if (sealer !== null) {
    header = sealer.seal(header, signedTransactions, receipts);
    hash = header.hash;
    for (const item of [...logJsons, ...receipts]) item.blockHash = hash;
  }
  const bodies = receipts.map((receipt, index) => {
    const positionFields = { blockHash: hash, blockNumber: hex(number), transactionIndex: hex(index) };
    return sealer === null ? transactionOf(receipt) : { ...signedTransactions[index], ...positionFields };
  });
  const logTexts = logJsons.map((log) => JSON.stringify(log));
  const encode = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  return {
    number,
    hash,
    parentHash,
    header: encode(header),
    receipts: encode(receipts),
    logs: Buffer.from(`[${logTexts.join(',')}]`),
    full: indexer === null && sealer === null ? null : encode({ ...header, transactions: bodies }),
    index: indexer?.index(logs, logTexts) ?? null,
  };
}

export interface StubBlockOptions {
  readonly logsPerBlock: number;
  readonly pairs: number;
  /** Number of tokens besides the quote tokens; default 200. */
  readonly firstTokens?: number;
  readonly seed?: number;
  /** Time of block 0, unix seconds. */
  readonly genesisTime?: number;
  /** Seconds between two blocks; default 10. */
  readonly blockSeconds?: number;
  /** If true, all pools are V2 pairs, and a swap is a Sync and a Swap without token transfers. */
  readonly onlyV2?: boolean;
  /** If true, the pools are of all families in turn. */
  readonly families?: boolean;
  /**
   * If true, serves full blocks and lets eth_getLogs filter. Other indexers need full blocks and filters; Candlehouse
   * does not.
   */
  readonly forIndexers?: boolean;
  /** If true, blocks have real hashes, roots and signatures. */
  readonly provable?: boolean;
  /** Smallest number of transactions of a block; some have no logs. */
  readonly transactionsMin?: number;
}

/**
 * Makes blocks one after another; the same calls give the same blocks. Block 1 creates the pools, later blocks trade.
 */
export class StubBlockMaker {
  /** Number of logs in all blocks. */
  logs = 0;
  swaps = 0;
  readonly indexer: LogIndexer | null;
  private readonly random: () => number;
  private readonly bloomOf = createBloomer();
  /** Answers of contracts, by address and call data. */
  readonly answers: ReadonlyMap<string, Hex>;

  /** `sealer` must be given if the option `provable` is true. */
  constructor(
    private readonly options: StubBlockOptions,
    private readonly sealer: BlockSealer | null = null,
  ) {
    this.random = createRandom(options.seed ?? 1);
    this.indexer = options.forIndexers === true ? new LogIndexer() : null;
    this.answers = new Map(listFamilyPools(options).flatMap(familyAnswers));
  }

  timeOf(number: number): number {
    return (
      (this.options.genesisTime ?? 1_700_000_000) + number * (this.options.blockSeconds ?? BLOCK_SECONDS)
    );
  }

  make(number: number, fork: number, parentHash: string): StubBlock {
    const { logsPerBlock, onlyV2 = false } = this.options;
    const logs: StubLog[] = number === 1 ? creationLogs(this.options) : [];
    while (number > 1 && logs.length < logsPerBlock) {
      logs.push(...swapLogs(this.random, this.options, this.timeOf(number)));
      this.swaps += 1;
    }
    this.logs += logs.length;
    const timestamp = this.timeOf(number);
    const logsPerTx = SWAPS_PER_TX * (onlyV2 ? 2 : 4);
    const { indexer, sealer } = this;
    const transactionsMin = number > 1 ? (this.options.transactionsMin ?? 0) : 0;
    const shared = { logsPerTx, transactionsMin, indexer, sealer };
    const { bloomOf } = this;
    return encodeBlock({ number, fork, parentHash, timestamp, logs, bloomOf, ...shared });
  }
}
