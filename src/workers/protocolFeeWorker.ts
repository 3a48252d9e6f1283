/**
 * Background worker that reads the protocol's part of the swap fees of V3 pools, once for each pool with a swap. The
 * worker stores the part that was valid before the pool's first SetFeeProtocol log. A stored log contains this old
 * part. Without a stored log, slot0() of the pool gives the part, and every later log starts from this value, on any
 * branch of the chain.
 */
import type { EthCalls } from '../node/calls/askContracts';
import type { Clock } from '../node/rpc/clock';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import { address } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import { rowType } from '../clickhouse/rows/rowType';
import { poolFirstSharesTable } from '../clickhouse/schema/olderPoolTables';
import type { Hex } from '../domain/hex';
import type { Logger } from '../log';
import { decodeFirstShares, PROTOCOLS } from '../protocols/registry';
import { snapshotParams, type HeadSnapshot } from '../query/head/headSnapshot';
import { createProtocolSplits } from '../query/pairs/protocolFees';
import { readSlot0s } from './tokenFacts';
import { repeatStep } from './repeatStep';

/** Largest number of pools that one round reads. */
const POOLS_MAX = 100;
/** Pause in ms between two rounds while pools are left; otherwise the worker looks for new blocks at this interval. */
const ROUND_PAUSE_MS = 2_000;
const IDLE_POLL_MS = 60_000;
const RETRY_MS = 30_000;

const pairRow = rowType({ pair: address });

interface FeeDeps {
  readonly database: Database;
  readonly rpc: EthCalls;
  readonly chainId: number;
  readonly status: { readonly phase: string; readonly blocks: number };
  /** Reads the stored head. */
  readonly readHead: () => Promise<HeadSnapshot | null>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called if the protocol gets a part of some fees, because readers may have cached other figures. */
  readonly onChange: () => void;
}

export class ProtocolFeeWorker {
  private readonly runner: QueryRunner;

  constructor(private readonly deps: FeeDeps) {
    this.runner = createQueryRunner(deps.database);
  }

  /** Runs until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, status, log } = this.deps;
    const step = async (): Promise<number | 'idle'> => {
      if (status.phase !== 'follow') return IDLE_POLL_MS;
      return (await this.readRound(signal)) === POOLS_MAX ? ROUND_PAUSE_MS : 'idle';
    };
    const onFailure = (error: string): void =>
      log.warn({ error }, 'reading protocol fees of V3 pools failed; retrying');
    const idle = { ms: IDLE_POLL_MS, input: () => status.blocks };
    return repeatStep(clock, { firstMs: ROUND_PAUSE_MS, failedMs: RETRY_MS, idle, step, onFailure }, signal);
  }

  /** Reads some pools at the stored head. Resolves to the number of pools whose part was stored. */
  async readRound(signal: AbortSignal): Promise<number> {
    const { database, rpc, chainId, clock, onChange } = this.deps;
    const head = await this.deps.readHead();
    if (head === null) return 0;
    const protocols = [...PROTOCOLS.values()].flatMap(({ name, feeSplit }) =>
      feeSplit === null ? [] : [name],
    );
    const params = { ...snapshotParams(head), protocols, limit: POOLS_MAX };
    const chosenRows = await this.runner.run('measure/choose_fee_pools', params, pairRow);
    const pools = chosenRows.map(({ pair }): Hex => pair);
    if (pools.length === 0) return 0;
    // The logs and slot0() must be as of the same block: a value after an unseen log would not be the first one.
    const splitByPool = await createProtocolSplits(this.runner, chainId)(head);
    const answers = await readSlot0s(rpc, pools, head.hash, signal);
    const version = Math.floor(clock.now());
    const rows = pools.flatMap((pair, index) => {
      const answer = answers[index] ?? null;
      if (answer === null) return [];
      const slot0 = decodeFirstShares(answer);
      const [firstPart] = splitByPool.get(pair) ?? [];
      if (firstPart === undefined && slot0?.isReady === false) return [];
      const shares = firstPart === undefined ? (slot0?.shares ?? null) : firstPart.shares;
      const { share0 = null, share1 = null } = shares ?? {};
      return [{ pair, share0, share1, read_block: head.number, version }];
    });
    await insertRows(database, poolFirstSharesTable, rows);
    if (rows.some(({ share0, share1 }) => share0 !== 0 || share1 !== 0)) onChange();
    return rows.length;
  }
}
