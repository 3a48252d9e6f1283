/**
 * Expected results of the stub chain: blocks for the oracle, and comparison of the API's bars and activity with them.
 */
import {
  STUB_ALGEBRA_FACTORY,
  STUB_SOLIDLY_FACTORY,
  STUB_V2_FACTORY,
  STUB_V3_FACTORY,
  type StubChain,
} from './stubChain';
import { stubTokens, type StubBlock } from './stubBlocks';
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import { BalancerV3Oracle } from '../oracle/oracleBalancerV3';
import { BondingOracle } from '../oracle/oracleBonding';
import { BookOracle } from '../oracle/oracleBook';
import { CamelotOracle } from '../oracle/oracleCamelot';
import { CryptoOracle } from '../oracle/oracleCrypto';
import { CurveOracle } from '../oracle/oracleCurve';
import { FamilyOracle, type FamilyTruth } from '../oracle/oracleFamilies';
import { InfinityBinOracle } from '../oracle/oracleInfinityBin';
import { oracleSwaps, type OracleSwap } from '../oracle/oracle';
import { V4Oracle } from '../oracle/oracleV4';
import { VaultOracle } from '../oracle/oracleVault';
import { ask } from '../server/ask';
import { findWrongBars } from '../oracle/wrongBars';
import {
  FAMILY_ACTIVITY,
  STUB_BOOK_FACTORY,
  STUB_CAMELOT_FACTORY,
  STUB_CURVE_BOOKS,
  STUB_CURVE_FACTORY,
  STUB_V4_MANAGER,
  STUB_VAULT,
  STUB_VAULT_AMP,
  stubV4Id,
} from './stubFamilies';
import {
  isCurveEnd,
  STUB_BONDING_FACTORY,
  STUB_CRYPTO_BOOKS,
  STUB_CRYPTO_FACTORY,
  STUB_INFINITY_BIN,
  STUB_INFINITY_CL,
  STUB_V3_BOOKS,
  STUB_V3_VAULT,
  stubInfinityId,
} from './stubFurther';

/** Logs that are events of /activity: V2 Swap, V2 Sync, V3 Swap, Solidly's Swap and Sync, Algebra's Swap, and others. */
const ACTIVITY_TOPICS = new Set<string>([
  ...FAMILY_ACTIVITY,
  '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  '0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b',
  '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a',
  '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79',
]);
const FAMILY_FACTORIES: ReadonlySet<string> = new Set([STUB_SOLIDLY_FACTORY, STUB_ALGEBRA_FACTORY]);

/** What the contracts of a pool answer. An address ends with the index of its pool. */
function toTruth(pool: string): FamilyTruth {
  const [token0, token1] = stubTokens(Number(`0x${pool.slice(4)}`));
  return { token0, token1, isStable: true, decimals: [0, 0], spacing: 60, feePips: 3_000 };
}

/** The oracles of the other families. A pool of the vault scales its tokens, which have no decimals, by 10^18. */
function otherOracles() {
  const tokensOf = (pool: string): readonly [Hex, Hex] => stubTokens(Number(`0x${pool.slice(4)}`));
  const scale = 10n ** 36n;
  const knowing =
    <Books>(books: Books) =>
    (_hash: string, pool: string) => ({ tokens: tokensOf(pool), books });
  return [
    new CamelotOracle(STUB_CAMELOT_FACTORY, 0, () => ({
      fees: [300, 300],
      isStable: false,
      decimals: [0, 0],
    })),
    new BookOracle(STUB_BOOK_FACTORY, 0, () => ({ state: null, baseFactor: 0 })),
    new V4Oracle(STUB_V4_MANAGER, 0),
    new V4Oracle(STUB_INFINITY_CL, 0, true),
    new InfinityBinOracle(STUB_INFINITY_BIN, 0),
    new BondingOracle(STUB_BONDING_FACTORY, 0, () => ({ state: null, feePips: 10_000 })),
    new CurveOracle(STUB_CURVE_FACTORY, 0, knowing(STUB_CURVE_BOOKS), []),
    new CryptoOracle(STUB_CRYPTO_FACTORY, 0, knowing(STUB_CRYPTO_BOOKS), []),
    new BalancerV3Oracle(STUB_V3_VAULT, 0, knowing(STUB_V3_BOOKS), []),
    new VaultOracle(
      {
        vault: STUB_VAULT,
        ranked: [],
        listingOf: () => ({ type: 5, weights: [], scales: [scale, scale], firstAmp: STUB_VAULT_AMP }),
      },
      0,
    ),
  ];
}

const PAGE_EVENTS = 100;

/** The beginnings of the keys of pools without a contract, with the functions that give their ids. */
const ID_OF: ReadonlyMap<string, (key: string) => Hex> = new Map([
  ['0xe4', stubV4Id],
  ['0xee', stubInfinityId],
  ['0xef', stubInfinityId],
]);

const NO_HASH: Hex = `0x${'0'.repeat(64)}`;

export function readStubLogs(body: Buffer): ChainLog[] {
  const logs = JSON.parse(body.toString()) as (ChainLog & { logIndex: string })[];
  return logs.map((log) => ({ ...log, logIndex: Number(log.logIndex) }));
}

/**
 * Swaps of the canonical blocks up to the head. Decodes each block once, because tests ask for the same blocks
 * repeatedly.
 */
export class StubTruth {
  private readonly swapsByBlock = new Map<string, readonly OracleSwap[]>();
  private readonly eventsByBlock = new Map<string, string[]>();

  constructor(private readonly chain: StubChain) {}

  swaps(head = this.chain.head): OracleSwap[] {
    const { blocks } = this.chain;
    const creation = blocks[1];
    if (creation === undefined) return [];
    const newBlocks = blocks.slice(2, head + 1).filter(({ hash }) => !this.swapsByBlock.has(hash));
    const factories = new Set([STUB_V2_FACTORY, STUB_V3_FACTORY]);
    const newSwaps = oracleSwaps(
      [this.toBlock(creation), ...newBlocks.map((block) => this.toBlock(block))],
      factories,
      { families: new FamilyOracle(FAMILY_FACTORIES, toTruth, 0), others: otherOracles() },
    );
    for (const { number, hash } of newBlocks) {
      this.swapsByBlock.set(
        hash,
        newSwaps.filter(({ block }) => block === number),
      );
    }
    return blocks.slice(2, head + 1).flatMap(({ hash }) => this.swapsByBlock.get(hash) ?? []);
  }

  /**
   * One line for each bar of the API that differs from the oracle's. The tokens have zero decimals, so raw equals scaled.
   */
  async findWrongBars(url: string, head = this.chain.head): Promise<string[]> {
    const swaps = this.swaps(head).map((swap) => ({ ...swap, pair: nameOf(swap.pair) }));
    const baseIsToken0 = new Map<string, boolean>();
    for (const pair of new Set(swaps.map((swap) => swap.pair))) {
      const answer = await ask(`${url}/api/v1/pairs/${pair}`);
      if (answer.status !== 200) return [`pair ${pair}: status ${answer.status}, ${await answer.text()}`];
      const { data } = (await answer.json()) as {
        data: { base_token: { address: string }; tokens: { address: string }[] };
      };
      baseIsToken0.set(pair, data.base_token.address === data.tokens[0]?.address);
    }
    return findWrongBars(url, swaps, (pair) => ({
      decimals0: 0,
      decimals1: 0,
      baseIsToken0: baseIsToken0.get(pair) ?? true,
    }));
  }

  /** `<id> <tx_hash>` of the canonical events of blocks `from` to `head`, ascending. */
  activity(from = 0, head = this.chain.head): string[] {
    return this.chain.blocks.slice(from, head + 1).flatMap((block) => {
      const knownEvents = this.eventsByBlock.get(block.hash);
      if (knownEvents !== undefined) return knownEvents;
      const events = readStubLogs(block.logs)
        .filter((log) => ACTIVITY_TOPICS.has(log.topics[0] ?? '') || isCurveEnd(log))
        .map((log) => `${block.number}-${log.logIndex} ${log.transactionHash}`);
      this.eventsByBlock.set(block.hash, events);
      return events;
    });
  }

  /**
   * The first difference between the API's activity of blocks `from` to `head` and the canonical events; null if both
   * are equal.
   */
  async findWrongActivity(url: string, from = 0, head = this.chain.head): Promise<string | null> {
    const listedEvents: string[] = [];
    let cursor: string | null = null;
    do {
      const cursorParam: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await ask(`${url}/api/v1/activity?limit=${PAGE_EVENTS}${cursorParam}`);
      if (answer.status !== 200) return `activity: status ${answer.status}, ${await answer.text()}`;
      const body = (await answer.json()) as {
        data: { id: string; tx_hash: string }[];
        meta: { next_cursor: string | null };
      };
      const wantedEvents = body.data.filter(({ id }) => Number(id.split('-')[0]) >= from);
      for (const { id, tx_hash } of wantedEvents) listedEvents.push(`${id} ${tx_hash}`);
      cursor = wantedEvents.length < body.data.length ? null : body.meta.next_cursor;
    } while (cursor !== null);
    return describeDifference(listedEvents.reverse(), this.activity(from, head));
  }

  private toBlock({ number, logs }: StubBlock): ChainBlock {
    return {
      number,
      hash: NO_HASH,
      parentHash: NO_HASH,
      timestamp: this.chain.timeOf(number),
      baseFeePerGas: null,
      transactionCount: 0,
      transactions: [],
      logs: readStubLogs(logs),
    };
  }
}

/** The name of a pool in the API. */
function nameOf(pair: string): string {
  return ID_OF.get(pair.slice(0, 4))?.(pair) ?? pair;
}

/** The first difference between two lists of events; null if they are equal. */
export function describeDifference(found: readonly string[], expected: readonly string[]): string | null {
  const firstDifference = expected.findIndex((event, index) => found[index] !== event);
  if (firstDifference === -1 && found.length === expected.length) return null;
  const shownIndex = firstDifference === -1 ? expected.length : firstDifference;
  return `${found.length} events, ${expected.length} expected; event ${shownIndex} is ${found[shownIndex]}, ${expected[shownIndex]} expected`;
}
