/** The parameter `addresses`, which requests several items in one call, and the list that answers it. */
import { parseAddress } from '../domain/address';
import type { Hex } from '../domain/hex';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { ListMeta } from '../wire/primitives';
import { listMeta } from './listMeta';
import { parsedParam, parsePool } from './params';

const ADDRESSES_MAX = 30;

const ADDRESS_PATTERN = '0[xX][0-9a-fA-F]{40}';

export const TOKEN_BATCH_PARAMS = batchParams('addresses', ADDRESS_PATTERN, parseAddress);
export const POOL_BATCH_PARAMS = batchParams(
  'addresses or ids of pools',
  `${ADDRESS_PATTERN}([0-9a-fA-F]{24})?`,
  parsePool,
);

/** `parse` throws bad_request for an invalid name. */
function batchParams(what: string, pattern: string, parse: (text: string, field: string) => Hex) {
  return {
    addresses: parsedParam({
      parse: (text) => parseNames(text, parse),
      allowed: `a comma list of 1 to ${ADDRESSES_MAX} ${what}`,
      doc: { type: 'string', pattern: `^${pattern}(,${pattern}){0,${ADDRESSES_MAX - 1}}$` },
      description:
        `Comma list of at most ${ADDRESSES_MAX} ${what}. The answer has these items in this order, ` +
        'without unknown ones and duplicates. All other parameters are then ignored',
    }),
  };
}

/** Parses a list of names and removes duplicates. Returns null for too many names. */
function parseNames(text: string, parse: (text: string, field: string) => Hex): readonly Hex[] | null {
  const texts = text.split(',');
  return texts.length > ADDRESSES_MAX ? null : [...new Set(texts.map((name) => parse(name, 'addresses')))];
}

/** Lists the known items in the order of the addresses, as a single page. */
export function listBatch<T>(
  find: (address: Hex) => T | undefined,
  addresses: readonly Hex[],
  head: HeadSnapshot,
): { readonly data: T[]; readonly meta: ListMeta } {
  const data = addresses.flatMap((address) => find(address) ?? []);
  return { data, meta: listMeta({ page: 1, limit: ADDRESSES_MAX }, data.length, head) };
}
