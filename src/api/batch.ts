/** The parameter `addresses`, which requests several items in one call, and the list that answers it. */
import { parseAddress } from '../domain/address';
import type { Hex } from '../domain/hex';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { ListMeta } from '../wire/primitives';
import { listMeta } from './listMeta';
import { parsedParam } from './params';

const ADDRESSES_MAX = 30;

export const BATCH_PARAMS = {
  addresses: parsedParam({
    parse: parseAddresses,
    allowed: `a comma list of 1 to ${ADDRESSES_MAX} addresses`,
    doc: { type: 'string', pattern: `^0[xX][0-9a-fA-F]{40}(,0[xX][0-9a-fA-F]{40}){0,${ADDRESSES_MAX - 1}}$` },
    description:
      `Comma list of at most ${ADDRESSES_MAX} addresses. The answer has these items in this order, ` +
      'without unknown addresses and duplicates. All other parameters are then ignored',
  }),
} as const;

/** Parses a list of addresses and removes duplicates. Returns null for too many addresses. Throws bad_request
 * for an invalid address. */
function parseAddresses(text: string): readonly Hex[] | null {
  const addressTexts = text.split(',');
  if (addressTexts.length > ADDRESSES_MAX) return null;
  return [...new Set(addressTexts.map((address) => parseAddress(address, 'addresses')))];
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
