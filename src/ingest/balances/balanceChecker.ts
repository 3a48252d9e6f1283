/**
 * Compares token balances computed from logs with the answers of balanceOf, while the ingester follows the
 * head. Each check compares some holders of recently transferred tokens at one block. The ingester never
 * waits for a check. Failures of the node or the database are logged and counted in the status, and the next
 * check tries again.
 */
import { z } from 'zod';

import { withDeadline, type Clock } from '../../chain/rpc/clock';
import { RpcError } from '../../chain/rpc/rpcError';
import type { Database } from '../../clickhouse/client/database';
import { insertRows } from '../../clickhouse/rows/inserter';
import { hexShape } from '../../clickhouse/rows/rowShapes';
import { createQueryRunner, type QueryRunner } from '../../clickhouse/client/namedQueries';
import { balanceChecksTable } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { errorText } from '../../errors';
import type { Logger } from '../../log';
import { balanceOfCall, readBalance } from '../../protocols/erc20';
import { BalanceBook, type ComparedBalance, type HeldToken } from './balanceBook';
import { callContracts } from '../pools/contractCalls';
import type { EthCalls } from '../pools/ethCalls';
import type { IngestStatus } from '../session/status';
import type { StoredState } from '../store/store';
import { readStoredState } from '../store/storedState';

/** Time between two checks, in ms. */
const INTERVAL_MS = 30_000;
/**
 * Time in ms before the first check. After a mismatch, and after a check that proves nothing, the next check also
 * comes after this time.
 */
const SOON_MS = 3_000;
/** Number of balances per check, and how many of these balances an earlier check has already compared. */
const BALANCES_MAX = 100;
const AGAIN_MAX = 40;
/** Each check also compares this many holders from the database, for this many tokens of pools. */
const STORED_TOKENS_MAX = 8;
const STORED_HOLDERS_MAX = 3;
/** Each check also compares some senders and recipients of the transfers in this many newest head blocks. */
const RECENT_BLOCKS = 64;
/** Time limit in ms for all node answers of a check. */
const NODE_MS = 5_000;
/** Gas limit of one call of balanceOf. */
const CALL_GAS: Hex = '0x4c4b40';
/** Safety limit: far more tokens than the checks ever reach. */
const TOKENS_MAX = 2_000_000;

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value));
const heldShape = z.object({ token: hex, holder: hex });
const balanceShape = heldShape.extend({ balance: z.string(), ahead: z.boolean() });
const checkShape = z.object({
  token: hex,
  checked_block: z.number(),
  holders_checked: z.coerce.number(),
  mismatches: z.coerce.number(),
  mismatch_block: z.number(),
  rebasing: z.boolean(),
  held_checked: z.coerce.number(),
  unconfirmed: z.coerce.number(),
  witness: hex,
  witness_baseline: z.string().transform(BigInt),
  agreed: z.number(),
});
const tokenShape = z.object({ token: hex });

const headerShape = z.object({ hash: hexShape });

interface Checked {
  /** Whether the next check must come soon. */
  readonly isOpen: boolean;
}

/** The result of a check that proves nothing. */
const NOTHING: Checked = { isOpen: true };

interface BalanceCheckerDeps {
  readonly database: Database;
  readonly rpc: EthCalls;
  readonly chainId: number;
  readonly status: Pick<IngestStatus, 'phase' | 'balanceChecks'>;
  readonly log: Logger;
  readonly clock: Clock;
}

export class BalanceChecker {
  private readonly runner: QueryRunner;
  private book: BalanceBook | null = null;

  constructor(private readonly deps: BalanceCheckerDeps) {
    this.runner = createQueryRunner(deps.database);
  }

  /** Checks at intervals until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, status, log } = this.deps;
    let waitMs = SOON_MS;
    while (!signal.aborted) {
      await clock.sleep(waitMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      // During the backfill, the ingester does not call balanceOf.
      if (status.phase !== 'follow') continue;
      try {
        const { isOpen } = await this.check(signal);
        waitMs = isOpen ? SOON_MS : INTERVAL_MS;
      } catch (error) {
        if (signal.aborted) return;
        status.balanceChecks.failures += 1;
        waitMs = INTERVAL_MS;
        log.warn({ error: errorText(error) }, 'comparing balances with the node failed');
      }
    }
  }

  /** Runs one check at the stored head. Rejects if the node or the database fails. */
  async check(signal?: AbortSignal): Promise<Checked> {
    const { database, chainId, status } = this.deps;
    const { phase } = status;
    const stored = await readStoredState(database, chainId);
    const tip = stored?.head.at(-1);
    if (stored === null || tip === undefined) return NOTHING;
    const book = (this.book ??= await this.loadBook());
    const pairs = await this.choose(book, stored);
    const balances = await this.readBalances(stored, pairs);
    const compared = await this.askNode(tip.hash, balances, signal);
    const differs = compared.some(({ logs, node }) => logs !== node);
    // The answers of a node for a block that is not on its chain any more prove nothing.
    if (differs && (await this.readHash(tip.number, signal)) !== tip.hash) return NOTHING;
    const after = await readStoredState(database, chainId);
    if (status.phase !== phase || after === null || !isUnchanged(stored, after)) return NOTHING;
    const findings = book.note(tip.number, compared, stored.startBlock > 1);
    await this.store(findings.tokens);
    status.balanceChecks.compared += compared.filter(({ node }) => node !== null).length;
    status.balanceChecks.mismatches += findings.mismatches;
    this.tell(book, findings.mismatches);
    return { isOpen: findings.suspects > 0 };
  }

  private tell(book: BalanceBook, mismatches: number): void {
    const { status, log } = this.deps;
    const marked = book.marked().length;
    status.balanceChecks.rounds += 1;
    if (marked > status.balanceChecks.rebasing)
      log.warn(
        { rebasing: marked, mismatches },
        'balances of tokens differ from their transfer logs; marked as rebasing',
      );
    status.balanceChecks.rebasing = marked;
  }

  private async loadBook(): Promise<BalanceBook> {
    const rows = await this.runner.run('ingest/balances/list_checks', { limit: TOKENS_MAX }, checkShape);
    return new BalanceBook(rows);
  }

  /**
   * Chooses the balances for a check: first balances to check again, then holders of pool tokens, then
   * recently transferred balances.
   */
  private async choose(book: BalanceBook, { head }: StoredState): Promise<HeldToken[]> {
    const again = book.listAgain(AGAIN_MAX);
    const params = {
      commits: head.slice(-RECENT_BLOCKS).map(({ commit }) => commit),
      marked: book.marked().map((token) => token.slice(2)),
      salt: Math.floor(this.deps.clock.random() * 2 ** 52),
      limit: BALANCES_MAX,
    };
    const fresh = await this.runner.run('ingest/balances/sample_moved', params, heldShape);
    const held = await this.sampleStored();
    const pairs = new Map([...again, ...held, ...fresh].map((pair) => [pair.token + pair.holder, pair]));
    return [...pairs.values()].slice(0, BALANCES_MAX);
  }

  /**
   * Some stored holders of the pool tokens with the fewest checks. Head blocks alone would not reveal
   * Transfer logs that a token contract invented long ago.
   */
  private async sampleStored(): Promise<HeldToken[]> {
    const salt = Math.floor(this.deps.clock.random() * 2 ** 52);
    const some = { salt, limit: STORED_TOKENS_MAX };
    const tokens = await this.runner.run('ingest/balances/choose_tokens', some, tokenShape);
    const start = salt.toString(16).padStart(13, '0').padEnd(40, '0');
    const samples = await Promise.all(
      tokens.map(async ({ token }) => {
        const key = { token: token.slice(2), limit: STORED_HOLDERS_MAX };
        const sample = (after: string): Promise<HeldToken[]> =>
          this.runner.run('ingest/balances/sample_stored', { ...key, after }, heldShape);
        const found = await sample(start);
        return found.length > 0 ? found : sample('0'.repeat(40));
      }),
    );
    return samples.flat();
  }

  /**
   * Balances computed from logs, as of the stored head. Leaves out balances that changed in rows after the
   * head.
   */
  private async readBalances(
    { cursor, head }: StoredState,
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
    const rows = await this.runner.run('ingest/balances/list_held', params, balanceShape);
    return rows
      .filter(({ ahead }) => !ahead)
      .map(({ token, holder, balance }) => ({ token, holder, logs: BigInt(balance) }));
  }

  /** Calls balanceOf for each balance at the block with this hash. */
  private async askNode(
    blockHash: Hex,
    balances: readonly Omit<ComparedBalance, 'node'>[],
    signal?: AbortSignal,
  ): Promise<ComparedBalance[]> {
    const { rpc, clock } = this.deps;
    const calls = balances.map(({ token, holder }) => ({
      to: token,
      data: balanceOfCall(holder),
      gas: CALL_GAS,
      at: { blockHash },
    }));
    const late = (): Error => new RpcError('timeout', `the node did not answer within ${NODE_MS} ms`);
    const answers = await withDeadline(clock, NODE_MS, signal, late, (inner) =>
      callContracts(rpc, calls, inner),
    );
    return balances.map((balance, index) => ({ ...balance, node: readBalance(answers[index]) }));
  }

  /** Hash of the block with this number on the node's chain. Null if the node does not have the block. */
  private async readHash(number: number, signal?: AbortSignal): Promise<Hex | null> {
    const { rpc, clock } = this.deps;
    const call = { method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] };
    const late = (): Error => new RpcError('timeout', `the node did not answer within ${NODE_MS} ms`);
    const [outcome] = await withDeadline(clock, NODE_MS, signal, late, (inner) =>
      rpc.batchOutcomes([call], (result) => headerShape.safeParse(result).data?.hash ?? null, {
        signal: inner,
      }),
    );
    if (outcome === undefined) return null;
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
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
 * Whether the balances that were read between two states belong to the newest block of `before`. If a reorg
 * replaced the block meanwhile, or if a backfill stores final blocks of another branch, the rows may come from two
 * branches. A promotion moves rows of the same branch, so it changes no balance.
 */
function isUnchanged(before: StoredState, after: StoredState): boolean {
  const tip = before.head.at(-1);
  if (tip === undefined || [before, after].some(({ intent }) => intent?.kind === 'backfill')) return false;
  if (after.cursor.number === tip.number) return after.cursor.hash === tip.hash;
  return after.head.some(({ hash }) => hash === tip.hash);
}
