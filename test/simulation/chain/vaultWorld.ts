/**
 * A small chain whose only DEX is a Balancer V2 vault. Tests write the logs of each transaction; the decoder, the
 * registry and the pricer read them as in production, without an engine.
 */
import type { ChainBlock } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import { ManyTokenDiscovery } from '../../../src/ingest/pools/discoverManyTokenPools';
import { PoolRegistry } from '../../../src/ingest/pools/poolRegistry';
import { BlockPricer } from '../../../src/ingest/price/blockPricer';
import type { BlockRows } from '../../../src/ingest/rows/blockRows';
import { createLog } from '../../../src/log';
import { arrayData, dataOf, digest, topicOf, type Draft } from '../../support/plainLogs';
import { answeringCalls, contextOf } from '../../support/node/vaultSetup';
import { ANCHORS, DAI, NATIVE, token } from '../../support/worlds/pools';

export const VAULT: Hex = `0x${'ba'.repeat(20)}`;
export const ONE = 10n ** 18n;
export const REM = token(50);
const TRADERS = [token(901), token(902), token(903)];
const NOBODY = 0n;
/** Selectors of the calls that tell whether a pool is stable or weighted. */
const GET_AMPLIFICATION_PARAMETER = '0x6daccffa';
const GET_NORMALIZED_WEIGHTS = '0xf89f27ed';

const TOPIC = {
  poolRegistered: '0x3c13bc30b8e878c53fd2a36b679409c073afd75950be43d8858768e956fbc20e',
  tokensRegistered: '0xf5847d3f2197b16cdcd2098ec95d0905cd1abdaf415f07bb7cef2bba8ac5dec4',
  swap: '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b',
  balanceChanged: '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78',
  balanceManaged: '0x6edcaf6241105b4c94c2efdbf3a6b12458eb3d07be3a0e81d24b13c44045fe7a',
  feeChanged: '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const satisfies Record<string, Hex>;

/**
 * The contract of a pool: its answers, and the logs that it causes. A method is named by what the pool does, and returns
 * the logs of that. Amounts are raw units of 18 decimals.
 */
export class VaultPoolScript {
  readonly address: Hex;
  readonly id: Hex;
  readonly tokens: readonly Hex[];

  constructor(
    name: string,
    registeredTokens: readonly Hex[],
    /** Answer of getNormalizedWeights. A pool without weights is stable and registers its own share as first token. */
    readonly weights: readonly bigint[],
    readonly fee = 3n * 10n ** 15n,
    readonly managers: readonly (Hex | bigint)[] = registeredTokens.map(() => NOBODY),
  ) {
    this.address = digest(`pool ${name}`, 20);
    this.tokens = weights.length === 0 ? [this.address, ...registeredTokens] : registeredTokens;
    if (weights.length === 0) this.managers = [NOBODY, ...managers];
    this.id = `${this.address}0002${'0'.repeat(20)}`;
  }

  registers(): Draft[] {
    return [this.changesFee(this.fee), this.registersPool(), this.registersTokens(this.managers)];
  }

  private registersPool(): Draft {
    return {
      address: VAULT,
      topics: [TOPIC.poolRegistered, this.id, topicOf(this.address)],
      data: dataOf(2n),
    };
  }

  registersTokens(managers: readonly (Hex | bigint)[]): Draft {
    return {
      address: VAULT,
      topics: [TOPIC.tokensRegistered, this.id],
      data: arrayData([this.tokens, managers]),
    };
  }

  changesFee(fee: bigint): Draft {
    return { address: this.address, topics: [TOPIC.feeChanged], data: dataOf(fee) };
  }

  /** Makes the log of a join. With negative deltas, it is an exit. */
  joins(deltas: readonly bigint[]): Draft {
    const topics = [TOPIC.balanceChanged, this.id, topicOf(TRADERS[0]!)];
    return { address: VAULT, topics, data: arrayData([this.tokens, deltas, deltas.map(() => 0n)]) };
  }

  swaps(tokenIn: Hex, tokenOut: Hex, amountIn: bigint, amountOut: bigint): Draft {
    const topics = [TOPIC.swap, this.id, topicOf(tokenIn), topicOf(tokenOut)];
    return { address: VAULT, topics, data: dataOf(amountIn, amountOut) };
  }

  manages(token: Hex, cashDelta: bigint, managedDelta: bigint): Draft {
    const topics = [TOPIC.balanceManaged, this.id, topicOf(TRADERS[2]!), topicOf(token)];
    return { address: VAULT, topics, data: dataOf(cashDelta, managedDelta) };
  }
}

export function transfer(token: Hex, from: Hex, to: Hex, amount: bigint): Draft {
  return { address: token, topics: [TOPIC.transfer, topicOf(from), topicOf(to)], data: dataOf(amount) };
}

/** Raw tokens out of a pool with these balances and weights, at a fee of 0.3 %, in float precision. */
export function amountOutOf(
  [balanceIn, balanceOut]: readonly [number, number],
  [weightIn, weightOut]: readonly [number, number],
  amountIn: number,
): bigint {
  const remainingShare = (balanceIn / (balanceIn + amountIn * 0.997)) ** (weightIn / weightOut);
  return BigInt(Math.floor(balanceOut * (1 - remainingShare)));
}

interface PublishedPrice {
  readonly usd: number;
  readonly confidence: number;
}

const NO_PRICE: PublishedPrice = { usd: 0, confidence: 0 };

export class VaultWorld {
  readonly registry = new PoolRegistry();
  private readonly context = contextOf(this.registry);
  private readonly pricer = new BlockPricer({ anchors: ANCHORS, wrappedNative: NATIVE }, () => 18);
  private readonly pools: VaultPoolScript[] = [];
  private readonly prices = new Map<Hex, PublishedPrice>();
  private readonly discovery: ManyTokenDiscovery;
  private number = 0;

  constructor() {
    this.discovery = new ManyTokenDiscovery({
      rpc: answeringCalls(({ to, data: callData }) => {
        const pool = this.pools.find(({ address }) => address === to);
        if (pool?.weights.length === 0)
          return callData === GET_AMPLIFICATION_PARAMETER ? dataOf(200_000n, 0n, 1_000n) : null;
        return pool !== undefined && callData.startsWith(GET_NORMALIZED_WEIGHTS)
          ? arrayData([pool.weights])
          : null;
      }),
      dexes: [{ name: 'phux', displayName: 'PHUX', protocol: 'balancer_v2', factory: VAULT }],
      baseIsToken0: this.context.baseIsToken0,
      quoteRank: (token) => (token === DAI ? 0 : Infinity),
      log: createLog('silent', false),
    });
  }

  /** Registers a pool and puts these balances in. */
  async create(pool: VaultPoolScript, balances: readonly bigint[]): Promise<BlockRows> {
    this.pools.push(pool);
    return this.mine([...pool.registers(), pool.joins(balances)]);
  }

  /** Mines one block. Each list has the logs of one transaction, sent by the next trader. */
  async mine(...transactions: readonly (readonly Draft[])[]): Promise<BlockRows> {
    this.number += 1;
    const block = blockOf(this.number, transactions);
    const findings = await this.discovery.discover([block], this.registry, true);
    const rows = this.pricer.price(decodeBlock(this.context, block, findings, true), true);
    for (const { token, price_usd: usd, confidence } of rows.token_prices)
      this.prices.set(token, { usd, confidence });
    return rows;
  }

  /** Mines empty blocks, so that epochs end and the 30-minute means move. */
  async wait(blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i += 1) await this.mine();
  }

  priceOf(token: Hex): PublishedPrice {
    return this.prices.get(token) ?? NO_PRICE;
  }
}

export function blockOf(number: number, transactions: readonly (readonly Draft[])[]): ChainBlock {
  const hashOf = (blockNumber: number): Hex => digest(`block ${blockNumber}`, 32);
  let logIndex = 0;
  return {
    number,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: 1_700_000_000 + 10 * number,
    baseFeePerGas: null,
    transactionCount: transactions.length,
    transactions: transactions.map((_, index) => ({
      hash: digest(`tx ${number} ${index}`, 32),
      index,
      from: TRADERS[(number + index) % TRADERS.length]!,
      effectiveGasPrice: null,
      gasUsed: null,
      contractAddress: null,
    })),
    logs: transactions.flatMap((drafts, transactionIndex) =>
      drafts.map((draft) => ({
        ...draft,
        transactionHash: digest(`tx ${number} ${transactionIndex}`, 32),
        transactionIndex,
        logIndex: logIndex++,
      })),
    ),
  };
}
