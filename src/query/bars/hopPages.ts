/**
 * Reads the changes of a token's published price, page by page from the newest block backwards. A page holds the changes
 * of all hops that the price is made of in a range of blocks. pathBars.ts makes bars of them.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { tokenPricesTable } from '../../clickhouse/schema/tables';
import { isAddress, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../../domain/ord';
import { AppError } from '../../errors';
import { HOPS_MAX } from '../../pricing/priceRoute';
import { HopReader } from '../audit/auditHops';
import { createAuditReader } from '../audit/auditRows';
import { findBlockTime } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { Hop } from '../prices/priceByHops';
import type { PriceSources } from '../prices/tokenPrices';
import { findRowSpan, type RowSpan } from './rowSpan';
import { findPricePoints, priceOfToken, type PathChange, type PricePoint } from './pathPoints';

/** Largest number of tokens whose hops one page reads. A page with more tokens becomes shorter. */
const TOKENS_MAX = 32;
/** Extra rows that a read of the head asks for. One block never has so many, so the read contains a whole block. */
const HEAD_ROWS_SPARE = 4 * TOKENS_MAX;

const changeTypes = pick(tokenPricesTable.types, [
  ...(['ord', 'timestamp', 'next_token', 'hop_price'] as const),
  ...(['previous_next_token', 'previous_hop_price'] as const),
]);
/** A row of list_hop_changes.sql. */
const changeRow = rowType(changeTypes);
/** A row of list_head_hop_changes.sql. */
const headChangeRow = rowType({ ...changeTypes, token: address });

export interface PathSource {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly sources: PriceSources;
}

export interface PathQuestion {
  readonly token: Hex;
  /** The wrapped native token, if the price is wanted in it; null for a price in USD. */
  readonly native: Hex | null;
  /** The first block in which the token can have a price. */
  readonly firstBlock: number;
}

interface PricePage {
  /** The blocks of the page in which the published price changed, ascending. */
  readonly points: readonly PricePoint[];
  /** Number of changes of hops that were read for the page. */
  readonly changes: number;
  /** The first block of the page. */
  readonly firstBlock: number;
}

/**
 * Reads one page that ends with `block`: about `limit` changes of hops, and the changes of the price that follow from
 * them.
 */
export async function readPricePage(
  source: PathSource,
  head: HeadSnapshot,
  question: PathQuestion,
  block: number,
  limit: number,
): Promise<PricePage> {
  const { runner, chainId, sources } = source;
  const { token, native, firstBlock } = question;
  const pricedTokens = native === null ? [token] : native === token ? [] : [token, native];
  const endReader = new HopReader(createAuditReader(runner, head, block), sources.anchors, null);
  const hopRange = new HopRange(runner, head, { block, firstBlock, limit });
  await hopRange.read(endReader, pricedTokens);
  const changes = [...hopRange.rows].sort((a, b) => a.ord - b.ord);
  const hops = await readHopsBefore(source, head, endReader, hopRange, changes);
  const fromBlock = blockOfOrd(hopRange.afterOrd) + 1;
  const points = await findPricePoints({
    changes,
    hops,
    priceOf: priceOfToken(token, native),
    firstBlock: fromBlock <= firstBlock ? await readFirstBlock(runner, chainId, head, firstBlock) : null,
  });
  return { points, changes: changes.length, firstBlock: fromBlock };
}

async function readFirstBlock(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  blockNumber: number,
): Promise<{ readonly ord: number; readonly timestamp: number } | null> {
  const timestamp = await findBlockTime(runner, chainId, head, blockNumber);
  if (timestamp === null)
    throw new AppError('internal', `block ${blockNumber} of the snapshot is not stored`);
  return { ord: lastOrdOfBlock(blockNumber), timestamp };
}

interface TokenSpan extends RowSpan {
  readonly token: Hex;
}

/** The positions of one page, from after `afterOrd` to `toOrd`. The range becomes shorter while its hops are read. */
class HopRange {
  rows: PathChange[] = [];
  readonly tokens = new Set<Hex>();
  /** Below 0 for a range that begins with block 0. */
  afterOrd: number;
  private readonly toOrd: number;

  constructor(
    private readonly runner: QueryRunner,
    private readonly head: HeadSnapshot,
    private readonly page: { readonly block: number; readonly firstBlock: number; readonly limit: number },
  ) {
    this.afterOrd = lastOrdOfBlock(page.firstBlock - 1);
    this.toOrd = lastOrdOfBlock(page.block);
  }

  /**
   * Reads the hops of the tokens and of all next tokens on their paths at any block of the range. A path has at most
   * HOPS_MAX hops, so as many rounds find every token of a path.
   */
  async read(endReader: HopReader, tokens: readonly Hex[]): Promise<void> {
    let tokensToLoad = tokens;
    for (let round = 0; round <= HOPS_MAX && tokensToLoad.length > 0; round += 1) {
      await endReader.loadHops(tokensToLoad);
      const pathTokens = [...endReader.tokensOnPaths(tokensToLoad)].filter(
        (token) => !this.tokens.has(token),
      );
      for (const token of pathTokens) this.tokens.add(token);
      for (const row of await this.listHead(pathTokens)) this.rows.push(row);
      const spans = await this.shorten(pathTokens);
      const finalRows = await Promise.all(spans.map((span) => this.listFinal(span)));
      for (const rows of finalRows) for (const row of rows) this.rows.push(row);
      this.cutOldRows();
      tokensToLoad = this.listUnreadTokens();
    }
  }

  private async listHead(tokens: readonly Hex[]): Promise<PathChange[]> {
    const { page, head } = this;
    if (page.block <= head.finalTo || tokens.length === 0) return [];
    const finalOrd = lastOrdOfBlock(head.finalTo);
    const limit = page.limit + HEAD_ROWS_SPARE;
    const headRows = await this.runner.run(
      'bars/list_head_hop_changes',
      {
        ...snapshotParams(head),
        tokens: tokens.map((token) => token.slice(2)),
        after_ord: Math.max(this.afterOrd, finalOrd),
        to_ord: this.toOrd,
        limit,
      },
      headChangeRow,
    );
    const rows = headRows.map((row) => toChange(row, row.token));
    // Rows of the oldest block may be missing.
    if (rows.length === limit) this.afterOrd = Math.max(this.afterOrd, rows.at(-1)?.ord ?? 0);
    return rows;
  }

  /**
   * Begins the range so late that it holds at most `limit` final hops of each token. The token with the most hops decides,
   * so the hops of the others are read only from there on.
   */
  private async shorten(tokens: readonly Hex[]): Promise<TokenSpan[]> {
    const spans = await Promise.all(tokens.map((token) => this.findSpan(token)));
    for (const { isFull, oldest } of spans) this.beginWithBlockOf(isFull ? oldest : null);
    return spans;
  }

  private async findSpan(token: Hex): Promise<TokenSpan> {
    const { page, head, runner, afterOrd } = this;
    const toOrd = lastOrdOfBlock(Math.min(page.block, head.finalTo));
    const request = { key: token.slice(2), afterOrd, toOrd, limit: page.limit };
    return { token, ...(await findRowSpan(runner, 'bars/find_hop_span', request)) };
  }

  private async listFinal(span: TokenSpan): Promise<PathChange[]> {
    const { token } = span;
    const isSpanInRange = span.rows === 0 || span.oldest > this.afterOrd;
    const { rows, oldest, newest, isSparse, isFull } = isSpanInRange ? span : await this.findSpan(token);
    if (rows === 0) return [];
    if (isFull) this.beginWithBlockOf(oldest);
    const params = {
      after_ord: oldest - 1,
      to_ord: newest,
      token: token.slice(2),
      sparse: isSparse,
      limit: rows,
    };
    const changeRows = await this.runner.run('bars/list_hop_changes', params, changeRow);
    return changeRows.map((row) => toChange(row, token));
  }

  /** Begins the range with the block of a position. */
  private beginWithBlockOf(ord: number | null | undefined): void {
    if (ord === null || ord === undefined) return;
    this.afterOrd = Math.max(this.afterOrd, lastOrdOfBlock(blockOfOrd(ord) - 1));
  }

  /** Drops the rows before the range, and all but the newest ones if there are too many. */
  private cutOldRows(): void {
    const rowsMax = 2 * this.page.limit;
    if (this.rows.length > rowsMax) {
      const ords = this.rows.map(({ ord }) => ord).sort((a, b) => b - a);
      this.beginWithBlockOf(ords[rowsMax]);
    }
    this.rows = this.rows.filter(({ ord }) => ord > this.afterOrd);
  }

  /** Next tokens of the rows that were not read yet. */
  private listUnreadTokens(): Hex[] {
    const nextTokens = new Set<Hex>();
    for (const { ord, hop, previous } of this.rows.sort((a, b) => b.ord - a.ord)) {
      for (const { nextToken } of [hop, previous]) {
        if (nextToken === ZERO_ADDRESS || !isAddress(nextToken) || this.tokens.has(nextToken)) continue;
        nextTokens.add(nextToken);
      }
      if (nextTokens.size === 0 || nextTokens.size + this.tokens.size <= TOKENS_MAX) continue;
      if (blockOfOrd(ord) >= this.page.block)
        throw new AppError('unavailable', 'the price of the token rests on too many tokens');
      this.afterOrd = Math.max(this.afterOrd, ord);
      this.cutOldRows();
      break;
    }
    return [...nextTokens];
  }
}

function toChange(row: RowOf<typeof changeRow>, token: Hex): PathChange {
  return {
    token,
    ord: row.ord,
    timestamp: row.timestamp,
    hop: hopOf(row.next_token, row.hop_price),
    previous: hopOf(row.previous_next_token, row.previous_hop_price),
  };
}

/** Confidence and cap do not matter for the price. */
function hopOf(nextToken: Hex, price: number): Hop {
  return { nextToken, price, confidence: 0, cap: 0 };
}

/**
 * The hops at the end of the block before the range. A token without a change in the range has the hop of the range's
 * end.
 */
async function readHopsBefore(
  { runner, sources }: PathSource,
  head: HeadSnapshot,
  endReader: HopReader,
  { tokens, afterOrd }: HopRange,
  changes: readonly PathChange[],
): Promise<Map<string, Hop>> {
  const hops = new Map<string, Hop>();
  for (const token of tokens) {
    const hop = endReader.hopOf(token);
    if (hop !== undefined) hops.set(token, hop);
  }
  const changedTokens = new Set<string>();
  for (const { token, previous } of changes) {
    if (changedTokens.has(token)) continue;
    changedTokens.add(token);
    hops.set(token, previous);
  }
  // An anchor has its configured price until its first hop is stored, and no price while it lacks its role.
  const unpricedAnchors = sources.anchors.filter(
    ({ address }) => changedTokens.has(address) && hops.get(address)?.price === 0,
  );
  if (unpricedAnchors.length > 0) {
    const blockBefore = blockOfOrd(afterOrd);
    const readerBefore = new HopReader(createAuditReader(runner, head, blockBefore), sources.anchors, null);
    if (blockBefore >= head.startBlock)
      await readerBefore.loadHops(unpricedAnchors.map(({ address }) => address));
    for (const { address } of unpricedAnchors) {
      const hop = readerBefore.hopOf(address);
      if (hop !== undefined) hops.set(address, hop);
    }
  }
  return hops;
}
