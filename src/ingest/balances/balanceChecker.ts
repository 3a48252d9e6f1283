/**
 * Compares token balances computed from logs with the answers of balanceOf, while the ingester follows the
 * head. Each check compares some holders of recently transferred tokens at one block. The ingester never
 * waits for a check. Failures of the node or the database are logged and counted in the status, and the next
 * check tries again.
 */
import { z } from 'zod';

import { askContracts } from '../../node/calls/askContracts';
import { withDeadline, type Clock } from '../../node/rpc/clock';
import type { EndpointPool } from '../../node/rpc/endpointPool';
import { RpcError } from '../../node/rpc/rpcError';
import type { Database } from '../../clickhouse/client/database';
import { address, bool, i256, u32, u64 } from '../../clickhouse/rows/columns';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType } from '../../clickhouse/rows/rowType';
import { createQueryRunner, type QueryRunner } from '../../clickhouse/client/namedQueries';
import { balanceChecksTable } from '../../clickhouse/schema/tables';
import { callData, readUint } from '../../domain/contractCall';
import { isHash, numberToHex, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { Logger } from '../../log';
import { BalanceBook, type ComparedBalance, type HeldToken } from './balanceBook';
import type { IngestStatus } from '../session/status';
import { readStoredHead, startRow, type StoredHead } from '../store/storedState';
import { repeatStep } from '../../workers/repeatStep';

/** Time between two checks, in ms. Without a new block, there is no further check. */
const INTERVAL_MS = 60_000;
/** Pause in ms after a failure. */
const FAILED_MS = 30_000;
/**
 * Time in ms before the first check. After a mismatch, and after a check that proves nothing, the next check also
 * comes after this time.
 */
const SOON_MS = 3_000;
/** Number of balances per check, and how many of these balances an earlier check has already compared. */
const BALANCES_MAX = 100;
const AGAIN_MAX = 30;
/**
 * Each check samples the holders of this many tokens of pools. While some tokens were never sampled, a check samples
 * up to FIRST_TOKENS_MAX of them, and compares up to FIRST_BALANCES_MAX balances.
 */
const SAMPLED_TOKENS_MAX = 4;
const FIRST_TOKENS_MAX = 24;
const FIRST_BALANCES_MAX = 300;
/** A sample of a token has this many of its largest holders, and this many random ones. */
const LARGEST_HOLDERS = 4;
const RANDOM_HOLDERS = 4;
/** Most stored balances that one query for samples reads, unless a single token has more. */
const SAMPLE_ROWS_MAX = 500_000;
/** Most tokens that a check samples again, because an earlier run of the program found unconfirmed holders. */
const INHERITED_MAX = 2;
/** Each check also compares some senders and recipients of the transfers in this many newest head blocks. */
const RECENT_BLOCKS = 64;
/** Time limit in ms for all node answers of a check. */
const NODE_TIMEOUT_MS = 5_000;
/** Safety limit: far more tokens than the checks ever reach. */
const TOKENS_MAX = 2_000_000;

const heldColumns = { token: address, holder: address };
const heldRow = rowType(heldColumns);
const balanceRow = rowType({ ...heldColumns, balance: i256, ahead: bool });
const sampleRow = rowType({ ...heldColumns, holders: u64 });
const checkRow = rowType(balanceChecksTable.types);
const tokenRow = rowType({ token: address, sampled_block: u32 });
const sizeRow = rowType({ token: address, stored: u64 });

const headerShape = z.object({ hash: z.custom<Hex>(isHash) });

interface Choice {
  readonly pairs: readonly HeldToken[];
  /** Number of holders of each sampled token. */
  readonly samples: ReadonlyMap<Hex, number>;
  /** Whether more tokens may have no sample yet. */
  readonly hasMore: boolean;
}

interface Checked {
  /** Whether the next check must come soon. */
  readonly isOpen: boolean;
}

/** The result of a check that proves nothing. */
const PROVES_NOTHING: Checked = { isOpen: true };

interface BalanceCheckerDeps {
  readonly database: Database;
  readonly rpc: Pick<EndpointPool, 'call' | 'batchOutcomes'>;
  readonly chainId: number;
  readonly status: Pick<IngestStatus, 'phase' | 'balanceChecks' | 'blocks'>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called when answers about tokens change: a token was sampled for the first time, or a mark changed. */
  readonly onChange?: () => void;
}

export class BalanceChecker {
  private readonly runner: QueryRunner;
  private book: BalanceBook | null = null;
  private isLate: boolean | null = null;

  constructor(private readonly deps: BalanceCheckerDeps) {
    this.runner = createQueryRunner(deps.database);
  }

  /** Checks at intervals until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, status, log } = this.deps;
    const step = async (): Promise<number | 'idle'> => {
      // During the backfill, the ingester does not call balanceOf.
      if (status.phase !== 'follow') return SOON_MS;
      return (await this.check(signal)).isOpen ? SOON_MS : 'idle';
    };
    const onFailure = (error: string): void => {
      status.balanceChecks.failures += 1;
      log.warn({ error }, 'comparing balances with the node failed');
    };
    const idle = { ms: INTERVAL_MS, input: () => status.blocks };
    return repeatStep(clock, { firstMs: SOON_MS, failedMs: FAILED_MS, idle, step, onFailure }, signal);
  }

  /** Runs one check at the stored head. Rejects if the node or the database fails. */
  async check(signal?: AbortSignal): Promise<Checked> {
    const { database, chainId, status } = this.deps;
    const { phase } = status;
    const stored = await readStoredHead(database, chainId);
    const tip = stored?.head.at(-1);
    // All stored blocks are final, so there is no head block to compare at. The check waits for the next block.
    if (stored === null || tip === undefined) return { isOpen: false };
    const book = (this.book ??= await this.loadBook());
    const isLate = (this.isLate ??= await this.startsLate());
    const { pairs, samples, hasMore } = await this.choose(book, stored, isLate);
    const balances = await this.readBalances(stored, pairs);
    const compared = await this.askNode(tip.hash, balances, signal);
    const differs = compared.some(({ logs, node }) => logs !== node);
    // If a reorg removed the block from the node's chain, the answers of the node prove nothing.
    if (differs && (await this.readHash(tip.number, signal)) !== tip.hash) return PROVES_NOTHING;
    const stateAfter = await readStoredHead(database, chainId);
    if (status.phase !== phase || stateAfter === null || !isUnchanged(stored, stateAfter))
      return PROVES_NOTHING;
    const findings = book.note(tip.number, compared, isLate, samples);
    await this.store(findings.tokens);
    if (findings.isNews) this.deps.onChange?.();
    status.balanceChecks.compared += compared.filter(({ node }) => node !== null).length;
    status.balanceChecks.mismatches += findings.mismatches;
    this.reportMismatches(book, findings.mismatches);
    return { isOpen: findings.suspects > 0 || hasMore };
  }

  private reportMismatches(book: BalanceBook, mismatches: number): void {
    const { status, log } = this.deps;
    const markedCount = book.marked().length;
    status.balanceChecks.rounds += 1;
    if (markedCount > status.balanceChecks.rebasing)
      log.warn(
        { rebasing: markedCount, mismatches },
        'balances of tokens differ from their transfer logs; marked as rebasing',
      );
    status.balanceChecks.rebasing = markedCount;
  }

  /** Whether the history begins after block 1. */
  private async startsLate(): Promise<boolean> {
    const [start] = await this.runner.run('ingest/store/find_start', { chain: this.deps.chainId }, startRow);
    return (start?.from_block ?? 1) > 1;
  }

  private async loadBook(): Promise<BalanceBook> {
    const rows = await this.runner.run('ingest/balances/list_checks', { limit: TOKENS_MAX }, checkRow);
    return new BalanceBook(rows);
  }

  /**
   * Chooses the balances for a check: first balances to check again, then samples of holders of pool tokens, then
   * recently transferred balances.
   */
  private async choose(book: BalanceBook, stored: StoredHead, isLate: boolean): Promise<Choice> {
    const balancesToRepeat = book.listAgain(AGAIN_MAX);
    const params = {
      commits: stored.head.slice(-RECENT_BLOCKS).map(({ commit }) => commit),
      salt: Math.floor(this.deps.clock.random() * 2 ** 52),
    };
    const marked = book.marked().map((token) => token.slice(2));
    const movedParams = { ...params, marked, limit: BALANCES_MAX };
    const movedBalances = await this.runner.run('ingest/balances/sample_moved', movedParams, heldRow);
    const tokenParams = { ...params, limit: FIRST_TOKENS_MAX };
    const tokens = await this.runner.run('ingest/balances/choose_tokens', tokenParams, tokenRow);
    // In a history that begins late, holders are unknown anyway.
    const neverSampledTokens = isLate ? [] : tokens.filter(({ sampled_block: block }) => block === 0);
    const chosenTokens =
      neverSampledTokens.length > 0 ? neverSampledTokens : tokens.slice(0, SAMPLED_TOKENS_MAX);
    const sampledTokens = [...book.listInherited(INHERITED_MAX), ...chosenTokens.map(({ token }) => token)];
    const { samples, held: heldSamples } = await this.sampleHolders(
      stored,
      [...new Set(sampledTokens)],
      params.salt,
    );
    const pairs = new Map(
      [...balancesToRepeat, ...heldSamples, ...movedBalances].map((pair) => [pair.token + pair.holder, pair]),
    );
    const balancesMax = neverSampledTokens.length > 0 ? FIRST_BALANCES_MAX : BALANCES_MAX;
    return {
      pairs: [...pairs.values()].slice(0, balancesMax),
      samples,
      hasMore: neverSampledTokens.length === FIRST_TOKENS_MAX,
    };
  }

  /**
   * Samples holders of the tokens, by size and at random. Head blocks alone would not reveal Transfer logs that a
   * token contract invented long ago.
   */
  private async sampleHolders(
    { cursor, head }: StoredHead,
    tokens: readonly Hex[],
    salt: number,
  ): Promise<{ samples: Map<Hex, number>; held: HeldToken[] }> {
    const samples = new Map<Hex, number>();
    const heldTokens: HeldToken[] = [];
    if (tokens.length === 0) return { samples, held: heldTokens };
    const toHex = (addresses: readonly Hex[]): string[] => addresses.map((token) => token.slice(2));
    const sizeParams = { tokens: toHex(tokens), limit: tokens.length };
    const sizes = await this.runner.run('holders/count_rows', sizeParams, sizeRow);
    for (const pack of packTokens(tokens, new Map(sizes.map(({ token, stored }) => [token, stored])))) {
      const params = {
        tokens: toHex(pack),
        commits: head.map(({ commit }) => commit),
        final_ord: lastOrdOfBlock(cursor.number),
        salt,
        largest: LARGEST_HOLDERS,
        others: RANDOM_HOLDERS,
        limit: pack.length * (LARGEST_HOLDERS + RANDOM_HOLDERS),
      };
      for (const token of pack) samples.set(token, 0);
      for (const row of await this.runner.run('ingest/balances/sample_holders', params, sampleRow)) {
        samples.set(row.token, row.holders);
        heldTokens.push({ token: row.token, holder: row.holder });
      }
    }
    return { samples, held: heldTokens };
  }

  /**
   * Balances computed from logs, as of the stored head. Leaves out balances that changed in rows after the
   * head.
   */
  private async readBalances(
    { cursor, head }: StoredHead,
    pairs: readonly HeldToken[],
  ): Promise<Omit<ComparedBalance, 'node'>[]> {
    if (pairs.length === 0) return [];
    const params = {
      final_ord: lastOrdOfBlock(cursor.number),
      tip_ord: lastOrdOfBlock((head.at(-1) ?? cursor).number),
      commits: head.map(({ commit }) => commit),
      tokens: pairs.map(({ token }) => token.slice(2)),
      holders: pairs.map(({ holder }) => holder.slice(2)),
      limit: pairs.length,
    };
    const rows = await this.runner.run('ingest/balances/list_held', params, balanceRow);
    return rows
      .filter(({ ahead }) => !ahead)
      .map(({ token, holder, balance }) => ({ token, holder, logs: balance }));
  }

  /** Calls balanceOf for each balance at the block with this hash. */
  private async askNode(
    blockHash: Hex,
    balances: readonly Omit<ComparedBalance, 'node'>[],
    signal?: AbortSignal,
  ): Promise<ComparedBalance[]> {
    const calls = balances.map(({ token, holder }) => [
      { to: token, data: callData('balanceOf(address)', holder) },
    ]);
    const contractAnswers = await this.inTime(signal, (inner) =>
      askContracts(this.deps.rpc, calls, { at: { blockHash }, signal: inner }),
    );
    return balances.map((balance, index) => ({
      ...balance,
      node: readUint(contractAnswers[index]?.answers[0]),
    }));
  }

  /** Hash of the block with this number on the node's chain. Null if the node does not have the block. */
  private readHash(number: number, signal?: AbortSignal): Promise<Hex | null> {
    const parse = (result: unknown): Hex | null => headerShape.safeParse(result).data?.hash ?? null;
    return this.inTime(signal, (inner) =>
      this.deps.rpc.call('eth_getBlockByNumber', [numberToHex(number), false], parse, { signal: inner }),
    );
  }

  private inTime<T>(signal: AbortSignal | undefined, work: (inner: AbortSignal) => Promise<T>): Promise<T> {
    const timeoutError = (): Error =>
      new RpcError('timeout', `the node did not answer within ${NODE_TIMEOUT_MS} ms`);
    return withDeadline(this.deps.clock, NODE_TIMEOUT_MS, signal, timeoutError, work);
  }

  private async store(tokens: ReturnType<BalanceBook['note']>['tokens']): Promise<void> {
    const version = Math.floor(this.deps.clock.now());
    await insertRows(
      this.deps.database,
      balanceChecksTable,
      tokens.map((check) => ({ ...check, version })),
    );
  }
}

/**
 * Whether the balances that were read between two states belong to the newest block of `earlier`. If a reorg replaced
 * the block meanwhile, the rows may come from two branches. The same holds while a backfill is unfinished: it may have
 * stored only some rows of its final blocks, and these may be of another branch than the head. A promotion moves rows
 * of the same branch, so it changes no balance.
 */
function isUnchanged(earlier: StoredHead, later: StoredHead): boolean {
  const tip = earlier.head.at(-1);
  if (tip === undefined || [earlier, later].some(({ intent }) => intent?.kind === 'backfill')) return false;
  if (later.cursor.number === tip.number) return later.cursor.hash === tip.hash;
  return later.head.some(({ hash }) => hash === tip.hash);
}

/** Splits the tokens into packs of at most SAMPLE_ROWS_MAX stored balances. */
function packTokens(tokens: readonly Hex[], sizes: ReadonlyMap<Hex, number>): Hex[][] {
  const packs: Hex[][] = [];
  let rows = Infinity;
  for (const token of tokens) {
    const size = sizes.get(token) ?? 0;
    if (rows + size > SAMPLE_ROWS_MAX) {
      packs.push([]);
      rows = 0;
    }
    packs.at(-1)?.push(token);
    rows += size;
  }
  return packs;
}
