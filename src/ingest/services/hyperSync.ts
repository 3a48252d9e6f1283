/**
 * Reads blocks from a HyperSync server with its official client, a native module that is loaded only here.
 * https://docs.envio.dev/docs/HyperSync/hypersync-query
 */
import type { Clock } from '../../node/rpc/clock';
import { onAbort } from '../../node/rpc/abortSignals';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import type { ParquetLog, ParquetTransaction } from '../parquet/parquetRows';
import type { BlockService, ServiceBlock } from './blockService';
import { ServiceFields } from './serviceFields';

/** The part of the client's interface that is used. */
export interface HyperSyncClient {
  getChainId(): Promise<unknown>;
  getHeight(): Promise<unknown>;
  get(query: object): Promise<unknown>;
}

interface HyperSyncOptions {
  readonly name: string;
  readonly client: HyperSyncClient;
  readonly chainId: number;
  readonly log: Logger;
  readonly clock: Clock;
}

/** The package, in the version whose interface this file follows. */
const HYPERSYNC_PACKAGE = '@envio-dev/hypersync-client';
const HYPERSYNC_VERSION = '1.3.0';

/** The fields that a block needs. */
const FIELDS = {
  block: ['Number', 'Hash', 'ParentHash', 'Timestamp', 'LogsBloom', 'GasUsed', 'BaseFeePerGas'],
  transaction: [
    ...['BlockNumber', 'TransactionIndex', 'Hash', 'From', 'To', 'Nonce', 'GasUsed'],
    ...['EffectiveGasPrice', 'Status'],
  ],
  log: [
    ...['BlockNumber', 'LogIndex', 'TransactionIndex', 'TransactionHash', 'Address', 'Data'],
    ...['Topic0', 'Topic1', 'Topic2', 'Topic3'],
  ],
};

/** The client's JoinMode.JoinNothing: each table is selected on its own. */
const JOIN_NOTHING = 2;

/** Limits of one answer, which the client holds in memory. A server may exceed them a little. */
const BLOCKS_MAX = 2_000;
const LOGS_MAX = 50_000;
/** Values are below these limits. */
const BLOCK_LIMIT = 2 ** 31;
const CHAIN_ID_LIMIT = 2 ** 53;
/** Longest time of one call, with the repetitions by the client, which obeys the rate limit. */
const CALL_MS = 300_000;
/** Number of calls in a row without a block before the stream fails. */
const FAILURES_MAX = 6;
/** Pauses in ms after a failed call. They double with each failure in a row. */
const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 30_000;

/** Blocks of one answer, and the first block that it does not have. */
interface Answer {
  readonly blocks: readonly ServiceBlock[];
  readonly nextBlock: number;
}

/**
 * Loads the official client. `url` is http or https. `load` imports a package. @throws AppError `bad_config` if the package
 * is not installed
 */
export async function loadHyperSync(
  url: string,
  apiToken: string,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<HyperSyncClient> {
  let loaded: unknown;
  try {
    loaded = await load(HYPERSYNC_PACKAGE);
  } catch (error) {
    const install = `npm install ${HYPERSYNC_PACKAGE}@${HYPERSYNC_VERSION}`;
    const message = `a HyperSync source needs the package ${HYPERSYNC_PACKAGE}; install it with: ${install}`;
    throw new AppError('bad_config', `${message} (${errorText(error)})`, { cause: error });
  }
  const clientClass = constructorOf(loaded);
  if (clientClass === null)
    throw new AppError('bad_config', `the package ${HYPERSYNC_PACKAGE} has no class HypersyncClient`);
  const client: unknown = Reflect.construct(clientClass, [{ url, apiToken }]);
  if (isClient(client)) return client;
  throw new AppError('bad_config', `the client of ${HYPERSYNC_PACKAGE} has no getChainId, getHeight and get`);
}

export class HyperSync implements BlockService {
  readonly name: string;
  private readonly options: HyperSyncOptions;
  private readonly fields: ServiceFields;

  constructor(options: HyperSyncOptions) {
    this.options = options;
    this.name = options.name;
    this.fields = new ServiceFields(options.name);
  }

  async findSpan(signal: AbortSignal): Promise<{ from: number; to: number } | null> {
    const { client, chainId } = this.options;
    const chain = await this.call(client.getChainId(), signal);
    const servedChainId = this.fields.integer(chain, CHAIN_ID_LIMIT, 'the chain id');
    if (servedChainId !== chainId) throw this.fields.fault('the chain id', servedChainId, String(chainId));
    const height = await this.call(client.getHeight(), signal);
    return { from: 0, to: this.fields.integer(height, BLOCK_LIMIT, 'the height') };
  }

  async *stream(from: number, to: number, signal: AbortSignal): AsyncGenerator<ServiceBlock> {
    const { clock, log } = this.options;
    for (let [next, failures] = [from, 0]; next <= to;) {
      let reason = `the server sends no block from ${next} on`;
      try {
        const answer = await this.ask(next, to, signal);
        if (answer.nextBlock > next) {
          yield* answer.blocks;
          next = answer.nextBlock;
          failures = 0;
          continue;
        }
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'node_failed') throw error;
        reason = error.message;
      }
      failures += 1;
      if (failures >= FAILURES_MAX) throw new AppError('node_failed', `${this.name}: ${reason}`);
      const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (failures - 1));
      log.debug({ service: this.name, error: reason, pauseMs }, 'a request of a service is repeated');
      await clock.sleep(pauseMs, signal);
    }
  }

  private async ask(from: number, to: number, signal: AbortSignal): Promise<Answer> {
    const { fields } = this;
    const query = {
      fromBlock: from,
      // The client excludes this block.
      toBlock: to + 1,
      includeAllBlocks: true,
      joinMode: JOIN_NOTHING,
      transactions: [{}],
      logs: [{}],
      fieldSelection: FIELDS,
      maxNumBlocks: BLOCKS_MAX,
      maxNumLogs: LOGS_MAX,
    };
    const answer = fields.fields(await this.call(this.options.client.get(query), signal), 'the answer');
    const next = fields.integer(answer['nextBlock'], BLOCK_LIMIT, 'nextBlock');
    if (next < from || next > to + 1) throw fields.fault('nextBlock', next, `${from} to ${to + 1}`);
    const data = fields.fields(answer['data'], 'data');
    const transactions = new Map<number, ParquetTransaction[]>();
    for (const item of fields.list(data['transactions'], 'transactions')) {
      const number = this.numberOf(item, from, next, 'a transaction');
      push(transactions, number, fields.transaction(item, number));
    }
    const logs = new Map<number, ParquetLog[]>();
    for (const item of fields.list(data['logs'], 'logs')) {
      const number = this.numberOf(item, from, next, 'a log');
      push(logs, number, fields.log(item, number));
    }
    const rows = fields.list(data['blocks'], 'blocks').map(fields.block);
    const blocks = rows
      .sort((a, b) => a.block - b.block)
      .map((block, index): ServiceBlock => {
        const expected = from + index;
        if (block.block !== expected || expected >= next)
          throw fields.fault(
            `the block at place ${index} from block ${from} on`,
            block.block,
            String(expected),
          );
        return {
          block,
          transactions: (transactions.get(expected) ?? []).sort((a, b) => a.index - b.index),
          logs: (logs.get(expected) ?? []).sort((a, b) => a.logIndex - b.logIndex),
        };
      });
    if (blocks.length !== next - from)
      throw fields.fault(
        'the number of blocks',
        blocks.length,
        `${next - from}, from ${from} to ${next - 1}`,
      );
    return { blocks, nextBlock: next };
  }

  private numberOf(value: unknown, from: number, toBlock: number, what: string): number {
    const number = this.fields.integer(
      this.fields.fields(value, what)['blockNumber'],
      BLOCK_LIMIT,
      `blockNumber of ${what}`,
    );
    if (number >= from && number < toBlock) return number;
    throw this.fields.fault(`blockNumber of ${what}`, number, `${from} to ${toBlock - 1}`);
  }

  /** Waits for a call of the client, which cannot be cancelled. Its errors pass. */
  private call(call: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const fail = (text: string): void => reject(new AppError('node_failed', `${this.name}: ${text}`));
      const timer = setTimeout(() => fail(`no answer in ${CALL_MS / 1_000} s`), CALL_MS);
      const release = onAbort(signal, (reason) =>
        reject(reason instanceof Error ? reason : new Error('aborted')),
      );
      call
        .then(resolve, (error: unknown) => fail(errorText(error)))
        .finally(() => {
          clearTimeout(timer);
          release();
        })
        .catch(() => undefined);
    });
  }
}

function push<Row>(rows: Map<number, Row[]>, number: number, row: Row): void {
  const blockRows = rows.get(number);
  if (blockRows === undefined) rows.set(number, [row]);
  else blockRows.push(row);
}

type Constructor = abstract new (...args: never[]) => unknown;

function constructorOf(loaded: unknown): Constructor | null {
  const clientClass =
    memberOf(loaded, 'HypersyncClient') ?? memberOf(memberOf(loaded, 'default'), 'HypersyncClient');
  return isConstructor(clientClass) ? clientClass : null;
}

function isConstructor(value: unknown): value is Constructor {
  return typeof value === 'function';
}

function memberOf(value: unknown, name: string): unknown {
  return value === null || value === undefined ? undefined : Reflect.get(Object(value), name);
}

function isClient(value: unknown): value is HyperSyncClient {
  return ['getChainId', 'getHeight', 'get'].every((name) => typeof memberOf(value, name) === 'function');
}
