/**
 * The names of pools without a contract. Inside the program, such a pool has the last 20 bytes of its id as its address;
 * outside, it is named by the id. Answers and parameters are translated here and nowhere else.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { hash } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { Dex } from '../../domain/pool';
import { AppError } from '../../errors';
import { hasPoolIds } from '../../protocols/registry';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { perVersion } from '../head/perVersion';

/** Limit for safety: more pools than any chain has. */
const ROWS_MAX = 10_000_000;
const ADDRESSES = /0x[0-9a-f]{40}(?![0-9a-f])/g;
const IDS = /0x[0-9a-f]{64}(?![0-9a-f])/gi;

const idRow = rowType({ pool_id: hash });

export interface PoolNames {
  /** The answer with ids in place of the addresses of pools without a contract. */
  show<Answer>(answer: Answer): Answer;
  /** The parameters with the addresses of pools in place of ids. An unknown id becomes an address without a pool. */
  resolve<Params>(params: Params): Params;
  /** An error about resolved parameters, with the ids that were asked for in place of their addresses. */
  showError(error: unknown, params: unknown): unknown;
}

/** The names of the pools of a head. */
export interface PoolNameReader {
  at(head: HeadSnapshot): Promise<PoolNames>;
}

export function createPoolNames(
  runner: QueryRunner,
  dexes: readonly Pick<Dex, 'protocol'>[],
): PoolNameReader {
  // The address of an id is always the same, so a reorg removes nothing.
  const idOf = new Map<string, Hex>();
  const addressOfId = (text: string): Hex => {
    const id = text.toLowerCase();
    const address = addressOfWord(id);
    // Two ids may end in the same 20 bytes. The address belongs to the id of the stored pool.
    return (idOf.get(address) ?? id) === id ? address : ZERO_ADDRESS;
  };
  const names: PoolNames = {
    show: (answer) =>
      idOf.size === 0 ? answer : replaceTexts(answer, ADDRESSES, (address) => idOf.get(address) ?? address),
    resolve: (params) => replaceTexts(params, IDS, addressOfId),
    showError(error, params) {
      if (!(error instanceof AppError)) return error;
      const askedIds = new Map<string, string>();
      replaceTexts(params, IDS, (text) => {
        askedIds.set(addressOfId(text), text.toLowerCase());
        return text;
      });
      const { code, cause, retryable } = error;
      const message = error.message.replace(ADDRESSES, (address) => askedIds.get(address) ?? address);
      return message === error.message ? error : new AppError(code, message, { cause, retryable });
    },
  };
  if (!dexes.some(({ protocol }) => hasPoolIds(protocol))) return { at: () => Promise.resolve(names) };
  let sinceOrd = 0;
  return perVersion({
    async read(head: HeadSnapshot) {
      const params = { ...snapshotParams(head), since_ord: sinceOrd, limit: ROWS_MAX };
      for (const { pool_id: id } of await runner.run('head/list_pool_ids', params, idRow))
        idOf.set(addressOfWord(id), id);
      // Pools of final blocks stay the same, so the next read leaves them out.
      sinceOrd = Math.max(sinceOrd, lastOrdOfBlock(head.finalTo));
      return names;
    },
  });
}

/** A copy of a JSON value with other texts. Parts without a replaced text are shared with the value. */
function replaceTexts<Value>(value: Value, pattern: RegExp, replace: (text: string) => string): Value;
function replaceTexts(value: unknown, pattern: RegExp, replace: (text: string) => string): unknown {
  // A text shorter than an address contains neither an address nor an id.
  if (typeof value === 'string')
    return value.length < ZERO_ADDRESS.length ? value : value.replace(pattern, replace);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item: unknown) => replaceTexts(item, pattern, replace));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const entries = Object.entries(value).map(
    ([name, part]) => [name, replaceTexts(part, pattern, replace)] as const,
  );
  const isSame = Object.values(value).every((part, i) => part === entries[i]?.[1]);
  return isSame ? value : Object.fromEntries(entries);
}
